import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess, type ManagedProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import type { Site } from '../lab/site.ts';
import { answersCorrectly } from '../load/answer.ts';
import { plainPeer, type Peer } from './peer.ts';

const READY_TIMEOUT_MS = 10_000;

/** How a peer is called, if not plainly. */
interface PeerAddress {
  readonly scheme?: 'http' | 'https';
  /** Value of the Authorization header, for a peer that checks it. */
  readonly authorization?: string | undefined;
}

/**
 * Starts a peer and resolves when it has forwarded a request.
 *
 * @param command gives the command line for a port; the process must stay in the foreground
 */
export async function startPeer(
  name: string,
  site: Site,
  command: (port: number) => Promise<readonly string[]>,
  { scheme = 'http', authorization }: PeerAddress = {},
): Promise<Peer> {
  const port = await freePort();
  const line = [...site.launcher, ...(await command(port))];
  const [executable = '', ...args] = line;
  const started: ManagedProcess = await startProcess({
    name,
    command: executable,
    args,
    env: {
      PATH: process.env['PATH'],
      // Caddy keeps files there.
      HOME: site.folder,
      PORT: String(port),
      UPSTREAM_PORT: String(site.upstreamPort),
    },
    logFile: path.join(site.folder, `${name.replaceAll(/\W/g, '-')}.log`),
  });
  const plain = plainPeer(name, `${scheme}://127.0.0.1:${port}`, started);
  const peer = authorization === undefined ? plain : { ...plain, authorization };
  await waitUntilReady(started, {
    check: () => answersCorrectly(peer.url, peer.authorization),
    timeoutMs: READY_TIMEOUT_MS,
    signal: site.signal,
  });
  return peer;
}
