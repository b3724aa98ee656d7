import type { TimeRange } from '../../ui/time-chart/time-scale.ts';

/** The search of the list of requests for those of a time. */
export function requestsOf({ fromMs, toMs }: TimeRange) {
  return { since: timeOf(fromMs), until: timeOf(toMs) };
}

/** The same for all since then. */
export function requestsSince(ms: number) {
  return { since: timeOf(ms) };
}

function timeOf(ms: number): string {
  return new Date(Math.round(ms)).toISOString();
}
