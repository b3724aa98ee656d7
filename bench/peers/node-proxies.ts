import { fileURLToPath } from 'node:url';
import { startPeer, type PeerKind } from './peer.ts';

/** Proxies that are built on a library, in `servers/`, each run as one process of this Node. */
export const nodeProxies: readonly PeerKind[] = [
  // With a keep-alive agent of node:http.
  nodeProxy('http-proxy', 'http-proxy.ts'),
  // It forwards with undici.
  nodeProxy('@fastify/http-proxy', 'fastify-http-proxy.ts'),
  // node:http and undici without any policy: what the runtime costs. A lower bound, not a peer.
  nodeProxy('floor', 'floor.ts'),
];

function nodeProxy(name: string, file: string): PeerKind {
  const main = fileURLToPath(new URL(`servers/${file}`, import.meta.url));
  return {
    name,
    start: (lab) => startPeer(lab, name, () => Promise.resolve([process.execPath, main])),
  };
}
