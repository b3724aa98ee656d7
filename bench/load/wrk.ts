import { randomInt, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runCommand } from '@gateway/tools/process/run-command';
import { z } from 'zod';
import type { LoadOutcome } from '../measure/round.ts';
import { REQUEST_BODY } from './request-body.ts';

const script = fileURLToPath(new URL('post.lua', import.meta.url));
const GRACE_MS = 10_000;

const resultSchema = z.object({
  requests: z.number(),
  duration_us: z.number(),
  /** Responses with a status above 399. */
  failed_status: z.number(),
  failed_socket: z.number(),
  p50_us: z.number(),
  p99_us: z.number(),
});

/** How the requests of a load differ from the plain ones. */
export interface LoadShape {
  /** Paths to call in turn; the path of the URL if there are none. */
  readonly paths?: readonly string[];
  /** Calls the seeded routes `route-1` to `route-<count>` in turn, instead of `paths`. */
  readonly routes?: number;
  /** Calls them by their paths on the host of the target instead of by their names. */
  readonly isByPath?: boolean;
  /** Sends the seeded tokens 1 to this number in turn, instead of the authorization. */
  readonly tokens?: number;
  /** Size of the request body, instead of `REQUEST_BODY`. */
  readonly bodyBytes?: number;
  /** Whether each request carries a new idempotency key. */
  readonly keyed?: boolean;
  /** Whether each request opens a new connection. */
  readonly closing?: boolean;
  /** A file of bearer tokens, one a line, that the requests carry in turn instead of the authorization. */
  readonly tokensFile?: string | undefined;
  /** Pause of each connection between its requests, ms, such as `4-12`; undefined: no pause. */
  readonly restMs?: string | undefined;
}

/** Where a load goes. */
export interface Target {
  readonly url: string;
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly shape?: LoadShape;
}

export interface Load extends LoadShape {
  readonly seconds: number;
  readonly connections?: number;
}

export const CONNECTIONS = 32;

/** Runs wrk with one thread, on the cores of this process, for `seconds`. */
export async function runWrk(
  target: Target,
  given: Load,
  signal: AbortSignal,
): Promise<LoadOutcome> {
  const load = { connections: CONNECTIONS, ...target.shape, ...given };
  const size = ['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`];
  const args = [...size, '--timeout', '5s', '--latency', '-s', script, target.url];
  const { code, output } = await runCommand('wrk', args, {
    env: {
      PATH: process.env['PATH'],
      BENCH_AUTHORIZATION: target.authorization,
      BENCH_PATHS: (load.paths ?? []).join(' '),
      BENCH_ROUTES: String(load.routes ?? 0),
      BENCH_ROUTE_PREFIX: load.isByPath === true ? '/route-' : '/v1/proxy/route-',
      BENCH_TOKENS: String(load.tokens ?? 0),
      // A round that always began with the same route would never reach the last ones of many.
      BENCH_SKIPPED: String(randomInt(Math.max(load.routes ?? 1, load.tokens ?? 1))),
      BENCH_BODY: REQUEST_BODY,
      BENCH_BODY_BYTES: String(load.bodyBytes ?? 0),
      BENCH_KEYED: load.keyed === true ? '1' : '0',
      BENCH_CLOSING: load.closing === true ? '1' : '0',
      BENCH_TOKENS_FILE: load.tokensFile ?? '',
      BENCH_REST_MS: load.restMs ?? '',
      BENCH_RUN: randomUUID(),
    },
    timeoutMs: load.seconds * 1_000 + GRACE_MS,
    signal,
  });
  signal.throwIfAborted();
  const line = output.split('\n').find((one) => one.startsWith('{'));
  if (code !== 0 || line === undefined) throw new Error(`wrk failed: ${output.trim()}`);
  const result = resultSchema.parse(JSON.parse(line));
  // A load without any response has failed too.
  const silent = result.requests === 0 ? load.connections : 0;
  return {
    units: result.requests,
    failed: result.failed_status + result.failed_socket + silent,
    durationUs: result.duration_us,
    p50Us: result.p50_us,
    p99Us: result.p99_us,
  };
}

/** As `runWrk`. @throws if a request fails */
export async function runWrkWell(...load: Parameters<typeof runWrk>): Promise<LoadOutcome> {
  const outcome = await runWrk(...load);
  if (outcome.failed > 0) throw new Error(`${outcome.failed} requests did not get a 2xx response`);
  return outcome;
}
