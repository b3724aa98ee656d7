import type { Clock } from '@gateway/shared/clock';
import type { RoutingTable } from '../routing-table/routing-table.ts';
import { LiveNames } from './live-names.ts';
import type { Sweep } from './tables.ts';

/** A row ends at the second sweep that does not find its name, so that scrapes in between see its last value. */
export const SWEEP_MS = 25_000;

/** Removes the rows whose names are not in use any more, if the last call found them too. */
export type SweepSeries = (live: LiveNames) => Sweep;

/**
 * Ends the series of what was deleted within a minute. Otherwise a process would keep them for its life, and new routes
 * would be counted as `other` once a metric is full.
 */
export function startSeriesSweep(
  clock: Clock,
  table: () => RoutingTable,
  metrics: readonly SweepSeries[],
): { stop(): void } {
  let live = new LiveNames(table());
  let stopped = false;
  const schedule = () =>
    clock.setTimer(SWEEP_MS, () => {
      if (live.table !== table()) live = new LiveNames(table());
      run(slicesOf(metrics, live));
    });
  // One slice in each turn of the event loop, so that requests do not wait for tens of thousands of rows.
  const run = (slices: Generator<undefined>) => {
    if (stopped) return;
    if (slices.next().done === true) timer = schedule();
    else setImmediate(run, slices);
  };
  let timer = schedule();
  return {
    stop() {
      stopped = true;
      timer.cancel();
    },
  };
}

function* slicesOf(metrics: readonly SweepSeries[], live: LiveNames): Generator<undefined> {
  for (const sweep of metrics) yield* sweep(live);
}
