import { setTimeout as delay } from 'node:timers/promises';
import { command, whole } from '../command.ts';
import { createRoute } from '../lab/management.ts';
import { startStack } from '../lab/stack.ts';
import { startNodeUpstream } from '../lab/upstream.ts';
import { startPacedLoad } from '../load/paced/paced-load.ts';
import { formatRows } from '../report/table.ts';

const UNLOADED = 0.1;
/** Until the gateway has found its limit. */
const WARM_UP_SECONDS = 12;
const SERVED_MS = 1500;
const DEADLINE_MS = 1000;
const MIN_GOODPUT = 0.9;
const MAX_P99_RATIO = 3;
const MAX_CONNECTIONS = 20_000;

/**
 * Sends a service more requests than its upstream can serve, with and without an adaptive limit, and prints what the
 * callers get. Sets exit code 1 if the adaptive limit does not keep the goodput and the latency.
 */
export const overload = command({
  name: 'overload',
  summary: 'goodput and latency of a service under overload, with and without an adaptive limit',
  options: {
    times: whole(3, [1, 10], 'load, in parts of the capacity'),
    workers: whole(20, [1, 1000], 'workers of the upstream'),
    workMs: whole(50, [1, 10_000], 'how long a worker needs for a request'),
    seconds: whole(20, [1, 600], 'length of each measurement'),
    dataPlanes: whole(1, [1, 8], 'data planes that share the load'),
  },
  async run(run, { times, workers, workMs, seconds, dataPlanes }) {
    const { stack, client } = await startStack(run);
    for (const adaptive of [true, false]) {
      const { url } = await startNodeUpstream(run, { workers, workMs });
      const service = { url, limits: { adaptive } };
      await createRoute(client, nameOf(adaptive), { service, route: { retry_count: 0 } });
    }
    const baseUrls: string[] = [];
    for (let plane = 0; plane < dataPlanes; plane += 1) {
      baseUrls.push((await stack.startDataPlane()).baseUrl);
    }
    await delay(SERVED_MS, undefined, { signal: run.signal });
    const capacity = (workers * 1000) / workMs;
    const measure = async (adaptive: boolean, load: number) => {
      const paced = await startPacedLoad(run, {
        urls: baseUrls.map((baseUrl) => `${baseUrl}/v1/proxy/${nameOf(adaptive)}`),
        authorization: `Bearer ${stack.adminToken}`,
        deadlineMs: DEADLINE_MS,
        maxConnections: MAX_CONNECTIONS,
      });
      const perSecond = Math.round(capacity * load);
      const result = await paced.run({ perSecond, warmUpSeconds: WARM_UP_SECONDS, seconds });
      const goodPerSecond = (result.requests - result.failed) / seconds;
      const refused = Object.entries(result.failures)
        .filter(([outcome]) => outcome.startsWith('503'))
        .reduce((sum, [, count]) => sum + count, 0);
      return { adaptive, load, goodPerSecond, refused, result };
    };
    const unloaded = await measure(true, UNLOADED);
    const limited = await measure(true, times);
    const unlimited = await measure(false, times);
    const ratio = limited.result.p99Ms / unloaded.result.p99Ms;
    const isKept = limited.goodPerSecond / capacity >= MIN_GOODPUT && ratio <= MAX_P99_RATIO;
    if (!isKept) process.exitCode = 1;
    // Without a good response there is no latency.
    const ms = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(0));
    const table = formatRows([unloaded, limited, unlimited], {
      service: ({ adaptive }) => (adaptive ? 'adaptive' : 'not adaptive'),
      load: ({ load }) => `${load} ×`,
      'good/s': ({ goodPerSecond }) => goodPerSecond.toFixed(0),
      'of capacity': ({ goodPerSecond }) => `${((goodPerSecond / capacity) * 100).toFixed(0)} %`,
      'p50 ms': ({ result }) => ms(result.p50Ms),
      'p99 ms': ({ result }) => ms(result.p99Ms),
      'refused/s': ({ refused }) => (refused / seconds).toFixed(0),
      'left/s': ({ result, refused }) => ((result.failed - refused) / seconds).toFixed(0),
    });
    process.stdout.write(
      `${table}\n\n${workers} workers of ${workMs} ms serve ${capacity} requests/s. Callers leave after ` +
        `${DEADLINE_MS} ms. Each row: ${seconds} s after ${WARM_UP_SECONDS} s. The p99 under load is ` +
        `${ratio.toFixed(1)} × the unloaded one.\n`,
    );
  },
});

const nameOf = (adaptive: boolean) => (adaptive ? 'adaptive' : 'plain');
