import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { startPeer, type PeerKind } from './peer.ts';

const manifestSchema = z.object({ version: z.string() });

/** Proxies that are built on a library, in `servers/`, each run as one process of this Node. */
export const nodeProxies: readonly PeerKind[] = [
  // With a keep-alive agent of node:http.
  nodeProxy('http-proxy', 'http-proxy.ts', 'http-proxy'),
  // It forwards with undici.
  nodeProxy('@fastify/http-proxy', 'fastify-http-proxy.ts', '@fastify/http-proxy'),
  // node:http and undici without any policy: what the runtime costs. A lower bound, not a peer.
  nodeProxy('floor', 'floor.ts', 'undici'),
];

function nodeProxy(name: string, file: string, library: string): PeerKind {
  const main = fileURLToPath(new URL(`servers/${file}`, import.meta.url));
  return {
    name,
    async version() {
      const manifest = new URL(`../node_modules/${library}/package.json`, import.meta.url);
      const { version } = manifestSchema.parse(JSON.parse(await readFile(manifest, 'utf8')));
      return `${library} ${version}`;
    },
    start: (lab) => startPeer(lab, name, () => Promise.resolve([process.execPath, main])),
  };
}
