import { performance } from 'node:perf_hooks';

const { nodeTiming } = performance;

/** Which turn of the event loop this is: a number that libuv counts up before each poll. */
export function currentTurn(): number {
  return nodeTiming.uvMetricsInfo.loopCount;
}
