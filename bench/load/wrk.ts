import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@gateway/local-stack/process/run-command';
import { z } from 'zod';

const script = fileURLToPath(new URL('post.lua', import.meta.url));
const GRACE_MS = 10_000;

const resultSchema = z.object({
  requests: z.number(),
  duration_us: z.number(),
  /** Answers of a status above 399. */
  failed_status: z.number(),
  failed_socket: z.number(),
  p50_us: z.number(),
  p99_us: z.number(),
});

export type LoadResult = z.infer<typeof resultSchema>;

/** What the requests of a load have beside the plain one. */
export interface LoadShape {
  /** Paths that take turns; the URL's own where there are none. */
  readonly paths?: readonly string[];
  /** Whether each request carries an idempotency key of its own. */
  readonly keyed?: boolean;
  /** Whether each request has a connection of its own. */
  readonly closing?: boolean;
  /** How long each connection rests between its requests, ms from-to; none where it is left out. */
  readonly restMs?: string | undefined;
}

export interface Load extends LoadShape {
  readonly url: string;
  readonly authorization: string;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Loads a URL from one thread; it inherits the cores of this process. Ends by itself. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const size = ['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`];
  const args = [...size, '--timeout', '5s', '--latency', '-s', script, load.url];
  const { code, output } = await runCommand('wrk', args, {
    env: {
      PATH: process.env['PATH'],
      BENCH_AUTHORIZATION: load.authorization,
      BENCH_PATHS: (load.paths ?? []).join(' '),
      BENCH_KEYED: load.keyed === true ? '1' : '0',
      BENCH_CLOSING: load.closing === true ? '1' : '0',
      BENCH_REST_MS: load.restMs ?? '',
      BENCH_RUN: randomUUID(),
    },
    timeoutMs: load.seconds * 1_000 + GRACE_MS,
    signal: load.signal,
  });
  load.signal.throwIfAborted();
  const line = output.split('\n').find((one) => one.startsWith('{'));
  if (code !== 0 || line === undefined) throw new Error(`wrk failed: ${output.trim()}`);
  return resultSchema.parse(JSON.parse(line));
}
