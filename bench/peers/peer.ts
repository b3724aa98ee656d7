import path from 'node:path';
import { StartError } from '@gateway/tools/process/errors';
import { freePort } from '@gateway/local-stack/process/free-port';
import { startProcess } from '@gateway/local-stack/process/managed-process';
import { waitUntilReady } from '@gateway/local-stack/process/wait-until-ready';
import type { Lab } from '../lab/lab.ts';
import { answersCorrectly } from '../lab/answer.ts';
import type { Target } from '../load/wrk.ts';

/** A proxy under test. It runs on the measured core and answers. */
export interface Peer extends Target {
  readonly name: string;
  /** The process whose CPU time and memory are measured, with all its descendants. */
  readonly pid: number;
  /** A server that it waits for and that is not measured. */
  readonly helperPid?: number;
}

/** A row of the tables, before it is started. */
export interface PeerKind {
  readonly name: string;
  /** Starts it; it stops with the lab. */
  start(lab: Lab): Promise<Peer>;
}

/**
 * Those with these names, or all if there are no names, in their own order.
 *
 * @throws {StartError} that lists the names if one does not exist
 */
export function named<T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[],
): readonly T[] {
  const unknown = names.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length === 0) {
    return all.filter(({ name }) => names.length === 0 || names.includes(name));
  }
  const known = all.map(({ name }) => name).join(', ');
  throw new StartError(`unknown: ${unknown.join(', ')}; there are: ${known}`);
}

const READY_TIMEOUT_MS = 10_000;

/**
 * Starts a peer that is one process and resolves when it has forwarded a request.
 *
 * @param command gives the command line for a port; the process must stay in the foreground
 */
export async function startPeer(
  lab: Lab,
  name: string,
  command: (port: number) => Promise<readonly string[]>,
  { scheme = 'http', authorization = `Bearer gwt_${'0'.repeat(43)}` } = {},
): Promise<Peer> {
  const port = await freePort();
  const [executable = '', ...args] = [...lab.launcher, ...(await command(port))];
  const started = await startProcess({
    name,
    command: executable,
    args,
    env: {
      PATH: process.env['PATH'],
      // Caddy keeps files there.
      HOME: lab.folder,
      PORT: String(port),
      UPSTREAM_PORT: String(lab.upstreamPort),
    },
    logFile: path.join(lab.folder, `${name.replaceAll(/\W/g, '-')}.log`),
  });
  lab.defer(() => started.stop());
  // Most of these peers do not check the authorization. It is sent so that all proxies get the same bytes.
  const url = `${scheme}://127.0.0.1:${port}/v1/proxy/orders`;
  const peer = { name, url, authorization, pid: started.pid };
  await waitUntilReady(started, {
    check: () => answersCorrectly(peer.url, peer.authorization),
    timeoutMs: READY_TIMEOUT_MS,
    signal: lab.signal,
  });
  return peer;
}
