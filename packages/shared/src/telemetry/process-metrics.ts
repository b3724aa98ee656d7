import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { Instruments } from './instruments.ts';

const SAMPLE_EVERY_MS = 100;
const DELAY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** The event-loop monitor of prom-client cannot be turned off; once an hour it costs nothing. */
const LIBRARY_SAMPLE_MS = 3_600_000;
/** Sums of gauges that the library has too, under names that only counters may have. */
const MISNAMED = ['handles', 'requests', 'resources'];
const REPLACED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/** The delay of the event loop, beside its histogram. */
export interface EventLoopDelay {
  /** The longest delay since the last call, ms. */
  takeLongestMs(): number;
}

/**
 * Registers the default metrics of a Node process and a histogram of event-loop delay.
 *
 * The histogram replaces `nodejs_eventloop_lag_*`. prom-client measures those with a timer of 10 ms: a
 * hundred wake-ups a second cost a data plane at 4000 requests a second 4 % of its CPU time.
 * Here a timer fires ten times a second. It sees every stall of 100 ms or more and a
 * share of the shorter ones, and histograms of several processes can be added up.
 */
export function collectProcessMetrics(registry: Registry, clock: Clock): EventLoopDelay {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LIBRARY_SAMPLE_MS });
  for (const figure of REPLACED) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${figure}_seconds`);
  }
  for (const kind of MISNAMED) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const delays = new Instruments(registry).histogram(
    'gateway_event_loop_delay_seconds',
    'Delay of a timer behind its due time, sampled ten times a second',
    DELAY_BUCKETS_SECONDS,
  );
  let longestMs = 0;
  const sample = () => {
    const dueMs = clock.monotonicMs() + SAMPLE_EVERY_MS;
    clock.setTimer(SAMPLE_EVERY_MS, () => {
      const delayMs = Math.max(0, clock.monotonicMs() - dueMs);
      longestMs = Math.max(longestMs, delayMs);
      delays.observe(delayMs / 1000);
      sample();
    });
  };
  sample();
  return {
    takeLongestMs() {
      const takenMs = longestMs;
      longestMs = 0;
      return takenMs;
    },
  };
}
