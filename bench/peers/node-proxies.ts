import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { startPeer, type PeerKind } from './peer.ts';

const require = createRequire(import.meta.url);
const manifestSchema = z.object({ name: z.string(), version: z.string() });

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
    version: () => libraryVersion(library),
    start: (lab) => startPeer(lab, name, () => Promise.resolve([process.execPath, main])),
  };
}

async function libraryVersion(library: string): Promise<string> {
  for (let folder = path.dirname(require.resolve(library)); ; folder = path.dirname(folder)) {
    const text = await readFile(path.join(folder, 'package.json'), 'utf8').catch(() => '{}');
    const manifest = manifestSchema.safeParse(JSON.parse(text));
    if (manifest.success && manifest.data.name === library)
      return `${library} ${manifest.data.version}`;
    if (folder === path.dirname(folder)) throw new Error(`the package of ${library} was not found`);
  }
}
