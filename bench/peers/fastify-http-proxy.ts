import { nodeServer } from './node-server.ts';

/** @fastify/http-proxy, which forwards with undici. */
export const fastifyHttpProxy = nodeServer(
  '@fastify/http-proxy',
  'fastify-http-proxy.ts',
  '@fastify/http-proxy',
);
