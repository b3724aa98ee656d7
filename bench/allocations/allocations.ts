import path from 'node:path';
import { freePort } from '@gateway/local-stack/process/free-port';
import { z } from 'zod';
import { command, text, whole } from '../command.ts';
import { startLab } from '../lab/lab.ts';
import { createProxyToken, createRoute } from '../lab/management.ts';
import { CallerConnections } from '../load/paced/caller-connections.ts';
import { GOOD } from '../load/paced/turn.ts';
import { runWrk, runWrkWell } from '../load/wrk.ts';
import { startGateway } from '../peers/gateway.ts';
import { connectInspector, type Inspect } from '../profile/inspector.ts';
import { formatCells } from '../report/table.ts';
import { bytesByFunction, heapProfileReply } from './heap-profile.ts';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.ts';

const TIMEOUT_MS = 180_000;
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

const heapUsage = z.object({ usedSize: z.number() });

/** What requests cost the heap. */
interface Measured {
  /** Bytes of one request. */
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
    const lab = await startLab(run, TIMEOUT_MS);
    const upstream = await startHeldUpstream(lab);
    const port = await freePort();
    const peer = await startGateway(lab, {
      checkout: checkout === undefined ? undefined : path.resolve(checkout),
      nodeArgs: [`--inspect=127.0.0.1:${port}`],
      fromSources: true,
      settings: () => ({ MAX_CONNECTIONS_PER_ADDRESS: '2000', MAX_UPSTREAM_CONNECTIONS: '2000' }),
      async configure(client, url) {
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
    const target = { ...peer, url: new URL('/v1/proxy/held', peer.url).href };
    const callers = new CallerConnections({ ...target, maxConnections: waiting });
    const tables = [
      table('allocated', await underLoad('all', SECONDS), functions),
      table('in the old generation', await underLoad('old', OLD_SECONDS), functions, 1),
      table(
        'kept while it waits',
        await measureKept(inspect, upstream, callers, waiting),
        functions,
      ),
    ];
    process.stdout.write(`${tables.join('\n\n')}\n`);
  },
});

/**
 * The bytes that a request keeps while it waits for its upstream, on connections that are open already. The first round
 * opens them.
 */
async function measureKept(
  inspect: Inspect,
  upstream: HeldUpstream,
  callers: CallerConnections,
  count: number,
): Promise<Measured> {
  const send = async () => {
    const answered = Array.from({ length: count }, async () => {
      const outcome = await new Promise<string>((resolve) => callers.send(resolve));
      if (outcome !== GOOD) throw new Error(`a request got ${outcome}`);
    });
    const all = Promise.all(answered);
    await Promise.race([all, upstream.waitFor(count)]);
    return () => {
      upstream.answer();
      return all;
    };
  };
  await (
    await send()
  )();
  const before = await usedBytes(inspect);
  await inspect('HeapProfiler.startSampling', SAMPLED.alive);
  const answer = await send();
  const after = await usedBytes(inspect);
  const { byFunction } = await stopSampling(inspect, count);
  await answer();
  return { total: (after - before) / count, byFunction };
}

async function usedBytes(inspect: Inspect): Promise<number> {
  await inspect('HeapProfiler.collectGarbage');
  return heapUsage.parse(await inspect('Runtime.getHeapUsage')).usedSize;
}

/** The sampled bytes of one of so many requests. */
async function stopSampling(inspect: Inspect, requests: number): Promise<Measured> {
  const { profile } = heapProfileReply.parse(await inspect('HeapProfiler.stopSampling'));
  const byFunction = bytesByFunction(profile.head).map(
    ([name, bytes]) => [name, bytes / requests] as const,
  );
  return { total: byFunction.reduce((sum, [, bytes]) => sum + bytes, 0), byFunction };
}

function table(what: string, { total, byFunction }: Measured, functions: number, digits = 0) {
  const rows = [['all', total] as const, ...byFunction.slice(0, functions)]
    .map(([name, bytes]) => [name, bytes.toFixed(digits)])
    .filter(([, bytes]) => Number(bytes) > 0);
  return formatCells(['function', `bytes ${what}`], rows);
}
