import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { command, text, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { createProxyToken, createRoute } from '../lab/management.ts';
import { createCallers, GOOD, type Done } from '../load/paced/callers.ts';
import { runWrk, runWrkWell } from '../load/wrk.ts';
import { startGateway } from '../peers/gateway.ts';
import { ownNameOf, sumBy, type CallNode } from '../profile/call-tree.ts';
import { connectInspector, type Inspect } from '../profile/inspector.ts';
import { formatCells } from '../report/table.ts';
import { startHeldUpstream } from './held-upstream.ts';

const WARM_UP_SECONDS = 4;
const SECONDS = 3;
/** Where few objects get to, more must be made for as many samples. */
const OLD_SECONDS = 15;
/**
 * What is sampled of the objects that are made. `samplingInterval` is the number of bytes between two samples on average:
 * so many samples that the totals of two runs differ by less than 1 %, and by a tenth for those of the old generation,
 * where more of them would slow the load down.
 */
const SAMPLED = {
  all: {
    samplingInterval: 512,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  },
  /** Those that two collections of the young generation have left. */
  old: { samplingInterval: 4096, includeObjectsCollectedByMajorGC: true },
  alive: { samplingInterval: 512 },
} as const;

/** Bytes of one request. */
interface Measured {
  readonly total: number;
  readonly byFunction: readonly (readonly [name: string, bytes: number])[];
}

/**
 * Prints the bytes that a request allocates in the data plane, those of them that get into the old generation, and those
 * that it keeps while it waits.
 */
export const allocations = command({
  name: 'allocations',
  summary: 'bytes that a request allocates, and those that it keeps while it waits',
  options: {
    checkout: text(undefined, 'measure the gateway of another checkout'),
    waiting: whole(1000, [100, 1000], 'requests that wait at once'),
    functions: whole(20, [1, 200], 'functions in each table'),
  },
  async run(run, { checkout, waiting, functions }) {
    const lab = await startLab(run);
    const upstream = await startHeldUpstream(lab);
    const port = await freePort();
    const peer = await startGateway(lab, {
      checkout: checkout === undefined ? undefined : path.resolve(checkout),
      nodeArgs: [`--inspect=127.0.0.1:${port}`],
      fromSources: true,
      settings: () => ({ MAX_CONNECTIONS_PER_ADDRESS: '2000', MAX_UPSTREAM_CONNECTIONS: '2000' }),
      async configure(client, { upstreamUrl: url }) {
        const service = { url: upstream.url, health_check: { interval_ms: 300_000 } };
        await createRoute(client, 'held', { service, route: { timeout_ms: 60_000 } });
        await createRoute(client, 'orders', { service: { url } });
        return { authorization: await createProxyToken(client, ['orders', 'held']), shape: {} };
      },
    });
    await runWrk(peer, { seconds: WARM_UP_SECONDS }, lab.signal);
    const inspect = await connectInspector(port, lab);
    await inspect('HeapProfiler.enable');
    const underLoad = async (sampled: keyof typeof SAMPLED, seconds: number) => {
      await inspect('HeapProfiler.startSampling', SAMPLED[sampled]);
      const { units } = await runWrkWell(peer, { seconds }, lab.signal);
      // Otherwise all that was made since the last collection would count as kept.
      await inspect('Runtime.evaluate', { expression: "gc({ type: 'minor' })" });
      return stopSampling(inspect, units);
    };
    const print = (what: string, { total, byFunction }: Measured, digits = 0) => {
      const sums = [['all', total] as const, ...byFunction.slice(0, functions)];
      const cells = sums.map(([name, bytes]) => [name, bytes.toFixed(digits)]);
      const shown = cells.filter(([, bytes]) => Number(bytes) > 0);
      process.stdout.write(`${formatCells(['function', `bytes ${what}`], shown)}\n\n`);
    };
    print('allocated', await underLoad('all', SECONDS));
    print('in the old generation', await underLoad('old', OLD_SECONDS), 1);
    const target = { ...peer, url: new URL('/v1/proxy/held', peer.url).href };
    const send = createCallers({ ...target, maxConnections: waiting });
    print('kept while it waits', await measureKept(inspect, upstream, send, waiting));
  },
});

/**
 * The bytes that a request keeps while it waits for its upstream, on connections that are open already. The first round
 * opens them.
 */
async function measureKept(
  inspect: Inspect,
  upstream: Awaited<ReturnType<typeof startHeldUpstream>>,
  send: (done: Done) => void,
  count: number,
): Promise<Measured> {
  const besideWaiting = async <T>(work: () => Promise<T>): Promise<T> => {
    const arrived = upstream.waitFor(count);
    const answered = Array.from({ length: count }, async () => {
      const outcome = await new Promise<string>(send);
      if (outcome !== GOOD) throw new Error(`a request got ${outcome}`);
    });
    await Promise.race([Promise.all(answered), arrived]);
    const result = await work();
    upstream.answer();
    await Promise.all(answered);
    return result;
  };
  await besideWaiting(() => Promise.resolve());
  const before = await usedBytes(inspect);
  await inspect('HeapProfiler.startSampling', SAMPLED.alive);
  return besideWaiting(async () => {
    const total = ((await usedBytes(inspect)) - before) / count;
    return { ...(await stopSampling(inspect, count)), total };
  });
}

async function usedBytes(inspect: Inspect): Promise<number> {
  await inspect('HeapProfiler.collectGarbage');
  return (await inspect<{ usedSize: number }>('Runtime.getHeapUsage')).usedSize;
}

/** The sampled bytes of one of so many requests. */
async function stopSampling(inspect: Inspect, requests: number): Promise<Measured> {
  const stopped = await inspect<{ profile: { head: CallNode } }>('HeapProfiler.stopSampling');
  const byFunction = sumBy(stopped.profile.head, ownNameOf).map(
    ([name, bytes]) => [name, bytes / requests] as const,
  );
  return { total: byFunction.reduce((sum, [, bytes]) => sum + bytes, 0), byFunction };
}
