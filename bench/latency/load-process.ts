/**
 * Sends requests at a constant rate, in a process of its own. Its only argument is the order as JSON. For each `Turn` from
 * its parent it sends requests for some seconds and answers with the `Measured` of all turns that counted. It ends when
 * the channel to the parent closes.
 */
import { once } from 'node:events';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { CallerConnections } from './caller-connections.ts';
import { RequestTurn, TICK_MS } from './turn.ts';

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

/** What is not answered this long after a turn has failed. */
const PATIENCE_MS = 5_000;

const order = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const latencies = createHistogram();
let failed = 0;

/** A thread wakes this one, because timers of the event loop have a resolution of 1 ms. */
const ticker = new Worker(new URL('ticker.ts', import.meta.url), { workerData: TICK_MS });
const connections = new CallerConnections(order);

async function run({ perSecond, seconds, counts }: Turn): Promise<void> {
  const answered = (latencyMs: number) => {
    if (counts) latencies.record(Math.max(1, Math.round(latencyMs * 1e6)));
  };
  const turn = new RequestTurn(
    { perSecond, seconds, startMs: performance.now(), answered },
    (done) => connections.send(done),
    () => performance.now(),
  );
  const tick = () => turn.tick();
  ticker.on('message', tick);
  ticker.postMessage('start');
  const late = new AbortController();
  const patience = delay(seconds * 1000 + PATIENCE_MS, undefined, late).catch(() => undefined);
  await Promise.race([turn.allAnswered, patience]);
  late.abort();
  ticker.postMessage('stop');
  ticker.off('message', tick);
  const failedNow = turn.end();
  if (counts) failed += failedNow;
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
