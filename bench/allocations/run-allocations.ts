import { freePort } from '@gateway/local-stack/process/free-port';
import { z } from 'zod';
import { createProxyToken, createRoute } from '../lab/management.ts';
import { withLab } from '../lab/lab.ts';
import { runLoad } from '../load/wrk.ts';
import { startGateway } from '../peers/gateway.ts';
import type { Peer } from '../peers/peer.ts';
import { connectInspector, type Inspector } from '../profile/inspector.ts';
import { BENCHMARKS, writeSection } from '../report/document.ts';
import { formatCells } from '../report/table.ts';
import { Callers } from './callers.ts';
import { bytesByFunction, heapProfileReply, type HeapProfileNode } from './heap-profile.ts';
import { HeldUpstream } from './held-upstream.ts';

/** What `npm run bench -- allocations` is given. */
export interface AllocationsOptions {
  /** Root of another checkout whose gateway is measured; undefined: this one. */
  readonly checkout?: string | undefined;
  /** How many requests wait at once. */
  readonly waiting: number;
  /** Functions in each table. */
  readonly functions: number;
  /** Whether docs/understand/benchmarks.md gets the tables. */
  readonly write: boolean;
}

const TIMEOUT_MS = 180_000;
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 4;
const PROFILE_SECONDS = 3;
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
const PROFILE_OLD_SECONDS = 15;

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
export async function runAllocations(options: AllocationsOptions): Promise<void> {
  await withLab(TIMEOUT_MS, async ({ site, runner }) => {
    const upstream = new HeldUpstream();
    runner.defer('held upstream', () => upstream.stop());
    const heldUrl = await upstream.start();
    const port = await freePort();
    const peer = await startGateway(site, {
      checkout: options.checkout,
      nodeArgs: [`--inspect=127.0.0.1:${port}`],
      fromSources: true,
      settings: () => ({ MAX_CONNECTIONS_PER_ADDRESS: '2000', MAX_UPSTREAM_CONNECTIONS: '2000' }),
      async configure(client, url) {
        const service = { url: heldUrl, health_check: { interval_ms: 300_000 } };
        await createRoute(client, 'held', { service, route: { timeout_ms: 60_000 } });
        await createRoute(client, 'orders', { service: { url } });
        const token = await createProxyToken(client, 'bench', ['orders', 'held']);
        return { authorization: `Bearer ${token}`, shape: {} };
      },
    });
    runner.defer('gateway', peer.stop);
    const load = (seconds: number) => runLoad({ ...loadOf(peer), seconds, signal: site.signal });
    await load(WARM_UP_SECONDS);
    const inspector = await connectInspector(port, site.signal);
    try {
      await inspector.call('HeapProfiler.enable');
      const allocated = await measureLoad(inspector, SAMPLED.all, () => load(PROFILE_SECONDS));
      const old = await measureLoad(inspector, SAMPLED.old, () => load(PROFILE_OLD_SECONDS));
      const kept = await measureKept(inspector, upstream, peer, options.waiting, site.signal);
      const text = [
        table('allocated', allocated, options.functions),
        table('in the old generation', old, options.functions, 1),
        table('kept while it waits', kept, options.functions),
      ].join('\n\n');
      process.stdout.write(`${text}\n`);
      if (options.write) await writeSection(BENCHMARKS, 'allocations', text);
    } finally {
      inspector.close();
    }
  });
}

function loadOf({ url, authorization }: Peer) {
  return { url, authorization, connections: CONNECTIONS };
}

/** The sampled bytes of a request under load. */
async function measureLoad(
  inspector: Inspector,
  sampled: (typeof SAMPLED)[keyof typeof SAMPLED],
  load: () => ReturnType<typeof runLoad>,
): Promise<Measured> {
  await inspector.call('HeapProfiler.startSampling', sampled);
  const result = await load();
  // Otherwise all that was made since the last collection would count as kept.
  await inspector.call('Runtime.evaluate', { expression: "gc({ type: 'minor' })" });
  const failed = result.failed_status + result.failed_socket;
  if (failed > 0) throw new Error(`${failed} requests did not get a 2xx response`);
  return perRequest(await stopSampling(inspector), result.requests);
}

/**
 * The bytes that a request keeps while it waits for its upstream, on connections that are open already. The first round
 * opens them.
 */
async function measureKept(
  inspector: Inspector,
  upstream: HeldUpstream,
  peer: Peer,
  count: number,
  signal: AbortSignal,
): Promise<Measured> {
  const url = new URL('/v1/proxy/held', peer.url);
  const callers = new Callers(url, peer.authorization);
  try {
    await callers.connect(url, count, signal);
    const first = callers.send(signal);
    await Promise.race([first, upstream.waitFor(count, signal)]);
    upstream.answer();
    await first;
    const before = await usedBytes(inspector);
    await inspector.call('HeapProfiler.startSampling', SAMPLED.alive);
    const second = callers.send(signal);
    await Promise.race([second, upstream.waitFor(count, signal)]);
    const after = await usedBytes(inspector);
    const { byFunction } = perRequest(await stopSampling(inspector), count);
    upstream.answer();
    await second;
    return { total: (after - before) / count, byFunction };
  } finally {
    callers.close();
  }
}

async function usedBytes(inspector: Inspector): Promise<number> {
  await inspector.call('HeapProfiler.collectGarbage');
  return heapUsage.parse(await inspector.call('Runtime.getHeapUsage')).usedSize;
}

async function stopSampling(inspector: Inspector): Promise<HeapProfileNode> {
  return heapProfileReply.parse(await inspector.call('HeapProfiler.stopSampling')).profile.head;
}

function perRequest(head: HeapProfileNode, requests: number): Measured {
  const byFunction = bytesByFunction(head).map(
    ([name, bytes]) => [name, bytes / requests] as const,
  );
  return { total: byFunction.reduce((sum, [, bytes]) => sum + bytes, 0), byFunction };
}

function table(
  what: string,
  { total, byFunction }: Measured,
  functions: number,
  digits = 0,
): string {
  const shown = (bytes: number) => bytes.toFixed(digits);
  const rows = byFunction
    .slice(0, functions)
    .map(([name, bytes]) => [name, shown(bytes)])
    .filter(([, bytes]) => Number(bytes) > 0);
  return formatCells(['function', `bytes ${what}`], [['all', shown(total)], ...rows]);
}
