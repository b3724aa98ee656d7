import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { runCommand } from '@gateway/tools/process/run-command';
import type { LoadOutcome } from '../../measure/outcome.ts';
import { percentile } from '../../measure/statistics.ts';

/** A fixed number of requests, so that no request is cut off by the end of the load. */
export interface H2Load {
  readonly url: string;
  readonly authorization: string;
  readonly requests: number;
  readonly connections: number;
  /** `http1` needs a URL; over TLS the version is agreed on by ALPN. */
  readonly version: 'http1' | 'http2';
  /** Requests of one connection at a time; 1 if absent. */
  readonly streams?: number;
  /** The file that each request posts; without one they are GETs. */
  readonly bodyFile?: string;
  /** Where the durations of the requests are written meanwhile. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 60_000;
/** A request that hangs must fail, not hang the bench. */
const INACTIVITY_SECONDS = 10;

/** Runs h2load with one thread, on the cores of this process, until all requests are done. */
export async function runH2Load(load: H2Load): Promise<LoadOutcome> {
  const logFile = path.join(load.folder, `h2load-${randomUUID()}.tsv`);
  const args = [
    ...(load.version === 'http1' ? ['--h1'] : []),
    ...['-n', String(load.requests), '-c', String(load.connections)],
    ...['-m', String(load.streams ?? 1), '-N', `${INACTIVITY_SECONDS}s`],
    ...['-H', `authorization: ${load.authorization}`],
    ...(load.bodyFile === undefined ? [] : ['-d', load.bodyFile]),
    `--log-file=${logFile}`,
    load.url,
  ];
  const { signal } = load;
  const env = { PATH: process.env['PATH'] };
  try {
    const { code, output } = await runCommand('h2load', args, {
      env,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`h2load failed: ${output.trim()}`);
    return parseH2Load(output, await readFile(logFile, 'utf8'));
  } finally {
    await rm(logFile, { force: true });
  }
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
