import { nodeServer } from './node-server.ts';

/** node:http and undici with no policy: what the runtime costs. A floor, not a peer. */
export const floor = nodeServer('floor', 'floor.ts', 'undici');
