import type { Clock } from '@gateway/shared/clock';
import type { RoutingTable } from '../routing-table/routing-table.ts';
import { LiveNames } from './live-names.ts';

/** A row ends at the second sweep that does not find its name, so that scrapes in between see its last value. */
export const SWEEP_MS = 25_000;

/** Removes the rows whose names are not in use any more; those that the last call found too are removed. */
export type SweepSeries = (live: LiveNames) => void;

/**
 * Ends the series of what was deleted within a minute. Otherwise a process would keep them for its life, and new routes
 * would be counted as `other` once a metric is full.
 */
export function startSeriesSweep(
  clock: Clock,
  table: () => RoutingTable,
  metrics: readonly SweepSeries[],
): { stop(): void } {
  const schedule = () =>
    clock.setTimer(SWEEP_MS, () => {
      if (live.table !== table()) live = new LiveNames(table());
      for (const sweep of metrics) sweep(live);
      timer = schedule();
    });
  let live = new LiveNames(table());
  let timer = schedule();
  return { stop: () => timer.cancel() };
}
