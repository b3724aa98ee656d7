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
/** Bytes between two samples on average. So many samples that the totals of two runs differ by less than 1 %. */
const SAMPLING_INTERVAL = 512;
const COLLECTED_TOO = {
  includeObjectsCollectedByMajorGC: true,
  includeObjectsCollectedByMinorGC: true,
};

const heapUsage = z.object({ usedSize: z.number() });

/** What requests cost the heap. */
interface Measured {
  /** Bytes of one request. */
  readonly total: number;
  readonly byFunction: readonly (readonly [name: string, bytes: number])[];
}

/** Prints the bytes that a request allocates in the data plane, and those that it keeps while it waits. */
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
      const allocated = await measureAllocated(inspector, () => load(PROFILE_SECONDS));
      const kept = await measureKept(inspector, upstream, peer, options.waiting, site.signal);
      const text = [
        table('allocated', allocated, options.functions),
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

/** The bytes that a request allocates, whether they are collected or not. */
async function measureAllocated(
  inspector: Inspector,
  load: () => ReturnType<typeof runLoad>,
): Promise<Measured> {
  await inspector.call('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_INTERVAL,
    ...COLLECTED_TOO,
  });
  const result = await load();
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
    await inspector.call('HeapProfiler.startSampling', { samplingInterval: SAMPLING_INTERVAL });
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

function table(what: string, { total, byFunction }: Measured, functions: number): string {
  const rows = byFunction.slice(0, functions).map(([name, bytes]) => [name, bytes.toFixed(0)]);
  return formatCells(['function', `bytes ${what}`], [['all', total.toFixed(0)], ...rows]);
}
