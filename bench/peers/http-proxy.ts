import { nodeServer } from './node-server.ts';

/** http-proxy with a keep-alive agent. */
export const httpProxy = nodeServer('http-proxy', 'http-proxy.ts', 'http-proxy');
