/**
 * Loaded into a data plane with `--import`. Appends a line of JSON a second to the file of `PAUSES_FILE`: the longest
 * delay of the event loop, the longest garbage collection, and how long the main thread was ready to run and did not
 * have the core. It is not a part of the data plane, because its timer of 1 ms wakes an idle process.
 */
import { appendFile, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Of one second. */
export interface Pauses {
  /** Since 1970, at the end of the second. */
  readonly atMs: number;
  readonly delayMs: number;
  readonly collectionMs: number;
  readonly waitedMs: number;
}

const RESOLUTION_MS = 1;
const EVERY_MS = 1000;

/** Linux, sched-stats: the second number is the time spent waiting for a core, ns. */
const waitedSoFarMs = () => {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
};

const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let collectionMs = 0;
let waitedMs = waitedSoFarMs();
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) collectionMs = Math.max(collectionMs, duration);
}).observe({ entryTypes: ['gc'] });
delays.enable();
setInterval(() => {
  const nowWaitedMs = waitedSoFarMs();
  const pauses: Pauses = {
    atMs: Date.now(),
    delayMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS),
    collectionMs,
    waitedMs: nowWaitedMs - waitedMs,
  };
  delays.reset();
  collectionMs = 0;
  waitedMs = nowWaitedMs;
  appendFile(process.env['PAUSES_FILE'] ?? '', `${JSON.stringify(pauses)}\n`, () => undefined);
}, EVERY_MS).unref();
