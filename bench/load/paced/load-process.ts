/**
 * Sends requests at a constant rate, in a process of its own. Its only argument is the order as JSON. For each `CountedTurn`
 * from its parent it sends requests for some seconds and answers with the `Measured`. It ends when the channel to the
 * parent closes.
 */
import { once } from 'node:events';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createCallers, GOOD, type CallerOptions, type Done } from './callers.ts';
import { beginTurn, type Turn } from './turn.ts';

export interface LoadOrder extends Omit<CallerOptions, 'url'> {
  /** Of the route at each data plane; they take turns. */
  readonly urls: readonly string[];
  /** A finer tick spreads the requests better and costs more CPU time. */
  readonly tickMs: number;
}

export interface CountedTurn extends Turn {
  /** Whether the figures of the turns before are counted too. */
  readonly adds: boolean;
}

export interface Measured {
  readonly requests: number;
  /** Requests without a response of 200. */
  readonly failed: number;
  /** How many requests had another outcome than 200, by status and error code or by what happened to the connection. */
  readonly failures: Readonly<Record<string, number>>;
  /** Of the good responses. NaN without any. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** What is not answered this long after a turn has failed. */
const PATIENCE_MS = 5_000;

const { urls, tickMs, ...order } = JSON.parse(process.argv[2] ?? '') as LoadOrder;
const latencies = createHistogram();
let failures: Record<string, number> = {};

const fail = (outcome: string, count: number) => {
  if (count > 0) failures[outcome] = (failures[outcome] ?? 0) + count;
};

/** A thread wakes this one, because timers of the event loop have a resolution of 1 ms. */
const ticker = new Worker(new URL('ticker.ts', import.meta.url), { workerData: tickMs });
const callers = urls.map((url) => createCallers({ ...order, url }));
let next = 0;
const send = (done: Done) => callers[(next = (next + 1) % callers.length)]?.(done);

async function run({ adds, ...options }: CountedTurn): Promise<Measured> {
  if (!adds) {
    latencies.reset();
    failures = {};
  }
  const ended = (outcome: string, latencyMs: number) => {
    if (outcome === GOOD) latencies.record(Math.max(1, Math.round(latencyMs * 1e6)));
    else fail(outcome, 1);
  };
  const startMs = performance.now();
  const nowMs = () => performance.now();
  const turn = beginTurn({ ...options, tickMs, startMs, ended }, send, nowMs);
  const tick = () => turn.tick();
  ticker.on('message', tick);
  ticker.postMessage('start');
  const late = new AbortController();
  const turnMs = (options.warmUpSeconds + options.seconds) * 1000;
  const patience = delay(turnMs + PATIENCE_MS, undefined, late).catch(() => undefined);
  await Promise.race([turn.allEnded, patience]);
  late.abort();
  ticker.postMessage('stop');
  ticker.off('message', tick);
  fail('no response', turn.end());
  const ms = (rank: number) => (latencies.count === 0 ? NaN : latencies.percentile(rank) / 1e6);
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const requests = latencies.count + failed;
  return {
    requests,
    failed,
    failures,
    p50Ms: ms(50),
    p99Ms: ms(99),
    p999Ms: ms(99.9),
    maxMs: ms(100),
  };
}

await once(ticker, 'online');
process.on('message', (turn: CountedTurn) => {
  void run(turn).then((measured) => process.send?.(measured));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
