import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { runCommand } from '@gateway/tools/process/run-command';
import type { Lab } from '../../lab/lab.ts';
import type { LoadOutcome } from '../../measure/round.ts';
import { percentile } from '../../measure/statistics.ts';
import type { Peer } from '../../peers/peer.ts';

/** A fixed number of requests, so that no request is cut off by the end of the load. */
export interface H2Load {
  readonly name: string;
  readonly requests: number;
  readonly connections: number;
  /** Over TLS the version is agreed on by ALPN. */
  readonly version: 'http1' | 'http2';
  /** Requests of one connection at a time; 1 if absent. */
  readonly streams?: number;
  /** Is added to the URL. */
  readonly path?: string;
  /** Further header lines. */
  readonly headers?: (peer: Peer) => readonly string[];
  /** The size of the body that each request posts; without one they are GETs. */
  readonly bodyBytes?: number;
}

const TIMEOUT_MS = 60_000;
/** A request that hangs must fail, not hang the bench. */
const INACTIVITY_SECONDS = 10;

/** A load by h2load with one thread, on the cores of this process. */
export function h2Load(load: H2Load) {
  const run = (peer: Peer, part: number, lab: Lab) => runH2Load(load, peer, part, lab);
  return { name: load.name, run };
}

async function runH2Load(
  { requests, connections, version, streams = 1, path: further = '', headers, bodyBytes }: H2Load,
  peer: Peer,
  part: number,
  { folder, signal }: Lab,
): Promise<LoadOutcome> {
  const { url, authorization } = peer;
  // The durations of the requests are written there meanwhile.
  const logFile = path.join(folder, `h2load-${randomUUID()}.tsv`);
  const count = Math.max(connections, Math.round(requests * part));
  const args = [
    ...(version === 'http1' ? ['--h1'] : []),
    ...['-n', String(count), '-c', String(connections), '-m', String(streams)],
    ...['-N', `${INACTIVITY_SECONDS}s`, '-H', `authorization: ${authorization}`],
    ...(headers?.(peer) ?? []).flatMap((line) => ['-H', line]),
    ...(bodyBytes === undefined ? [] : ['-d', await bodyFile(folder, bodyBytes)]),
    `--log-file=${logFile}`,
    url + further,
  ];
  try {
    const options = { env: { PATH: process.env['PATH'] }, timeoutMs: TIMEOUT_MS, signal };
    const { code, output } = await runCommand('h2load', args, options);
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`h2load failed: ${output.trim()}`);
    return parseH2Load(output, await readFile(logFile, 'utf8'));
  } finally {
    await rm(logFile, { force: true });
  }
}

/** A file of so many zero bytes. */
async function bodyFile(folder: string, bytes: number): Promise<string> {
  const name = path.join(folder, `body-${bytes}`);
  const file = await open(name, 'w');
  await file.truncate(bytes);
  await file.close();
  return name;
}

const UNITS_US: Readonly<Record<string, number>> = { s: 1e6, ms: 1e3, us: 1 };

/**
 * Reads what h2load prints, and the durations of its log file: one line for each request, the last column in µs.
 *
 * @throws if the output has no result
 */
export function parseH2Load(output: string, log: string): LoadOutcome {
  const [, time, unit = ''] = /finished in ([\d.]+)(s|ms|us),/.exec(output) ?? [];
  const [, total, succeeded] = /requests: (\d+) total, .* (\d+) succeeded,/.exec(output) ?? [];
  const [, good] = /status codes: (\d+) 2xx/.exec(output) ?? [];
  if (time === undefined || total === undefined || good === undefined) {
    throw new Error(`h2load printed no result: ${output.trim()}`);
  }
  const timesUs = log
    .split('\n')
    .filter(Boolean)
    .map((line) => Number(line.slice(line.lastIndexOf('\t') + 1)));
  return {
    units: Number(total),
    failed: Number(total) - Math.min(Number(good), Number(succeeded)),
    durationUs: Number(time) * (UNITS_US[unit] ?? Number.NaN),
    p50Us: percentile(timesUs, 0.5),
    p99Us: percentile(timesUs, 0.99),
  };
}
