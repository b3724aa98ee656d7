/**
 * Sends requests at a constant rate, in a process of its own. Its only argument is the order as JSON. For each `Turn` from
 * its parent it sends requests for some seconds and answers with the `Measured` of all turns that counted. It ends when
 * the channel to the parent closes.
 *
 * Requests are due in groups, one group for each tick. The latency of a request is counted from the time at which it was
 * due, whether or not the process, a connection or the proxy was free then: a stall counts for every request that would
 * have been sent during it.
 */
import { once } from 'node:events';
import { createHistogram } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { CallerConnections } from './caller-connections.ts';

export interface LoadOrder {
  readonly url: string;
  readonly authorization: string;
}

export interface Turn {
  readonly perSecond: number;
  readonly seconds: number;
  readonly counts: boolean;
}

export interface Measured {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

const TICK_MS = 0.25;
/** What is not answered this long after a turn has failed. */
const PATIENCE_MS = 5_000;

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const latencies = createHistogram();
let failed = 0;

/** A thread wakes this one, because timers of the event loop have a resolution of 1 ms. */
const ticker = new Worker(new URL('ticker.ts', import.meta.url), { workerData: TICK_MS });
const connections = new CallerConnections(order);

async function run({ perSecond, seconds, counts }: Turn): Promise<void> {
  const total = Math.round(perSecond * seconds);
  const startMs = performance.now();
  let sent = 0;
  let open = 0;
  let done: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (done = resolve));
  const send = (dueMs: number) => {
    sent += 1;
    open += 1;
    connections.send((isGood) => {
      open -= 1;
      if (counts && isGood)
        latencies.record(Math.max(1, Math.round((performance.now() - dueMs) * 1e6)));
      if (counts && !isGood) failed += 1;
      if (sent === total && open === 0) done();
    });
  };
  const tick = () => {
    for (const nowMs = performance.now(); sent < total;) {
      const slot = Math.ceil((sent * 1000) / perSecond / TICK_MS);
      const dueMs = startMs + slot * TICK_MS;
      if (dueMs > nowMs) return;
      send(dueMs);
    }
  };
  ticker.on('message', tick);
  ticker.postMessage('start');
  const patience = setTimeout(done, seconds * 1000 + PATIENCE_MS);
  await ended;
  clearTimeout(patience);
  ticker.postMessage('stop');
  ticker.off('message', tick);
  if (counts) failed += open + total - sent;
}

function measured(): Measured {
  const ms = (rank: number) => latencies.percentile(rank) / 1e6;
  return {
    requests: latencies.count,
    failed,
    p50Ms: ms(50),
    p99Ms: ms(99),
    p999Ms: ms(99.9),
    maxMs: latencies.max / 1e6,
  };
}

await once(ticker, 'online');
process.on('message', (turn: Turn) => void run(turn).then(() => process.send?.(measured())));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
