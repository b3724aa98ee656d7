import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';

const SAMPLE_EVERY_MS = 100;
const DELAY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** The library's own watch of the event loop cannot be left out, only be made to look so seldom. */
const HARDLY_EVER_MS = 3_600_000;
const REPLACED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Metrics of this process: those that every Node process has, and how late its timers are.
 *
 * prom-client learns the latter from a timer of 10 ms, `nodejs_eventloop_lag_*`. A hundred wakes a second
 * took a data plane of 4000 requests a second 4 % of its CPU time (docs/understand/benchmarks.md). Here ten timers a second tell
 * it, as a histogram, which can be summed up over processes: a stall of 100 ms or more is always seen,
 * a shorter one as often as it meets one of them.
 */
export function collectProcessMetrics(registry: Registry, clock: Clock): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: HARDLY_EVER_MS });
  for (const figure of REPLACED) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${figure}_seconds`);
  }
  const delays = new Histogram({
    name: 'gateway_event_loop_delay_seconds',
    help: 'How much later than asked for the event loop ran a timer, looked at ten times a second.',
    buckets: DELAY_BUCKETS_SECONDS,
    registers: [registry],
  });
  const sample = () => {
    const dueMs = clock.monotonicMs() + SAMPLE_EVERY_MS;
    clock.setTimer(SAMPLE_EVERY_MS, () => {
      delays.observe(Math.max(0, clock.monotonicMs() - dueMs) / 1000);
      sample();
    });
  };
  sample();
}
