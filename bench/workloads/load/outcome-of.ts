import type { LoadOutcome } from '../../load/outcome.ts';
import { percentile } from '../../measure/statistics.ts';

/** What a load of this process got done, one unit for each duration. */
export function outcomeOf(
  timesUs: readonly number[],
  failed: number,
  durationMs: number,
): LoadOutcome {
  return {
    units: timesUs.length,
    failed,
    durationUs: durationMs * 1000,
    p50Us: percentile(timesUs, 0.5),
    p99Us: percentile(timesUs, 0.99),
  };
}
