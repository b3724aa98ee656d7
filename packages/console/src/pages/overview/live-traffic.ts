import type { Statistics } from '../../api/client.ts';
import { percentilesOf, shareOf, type Traffic, type TrafficPoint } from './traffic.ts';

/** Statistics of the last one to two minutes, and when they were read. */
export interface Reading {
  readonly atMs: number;
  readonly statistics: Statistics;
}

/** What happens now: the last readings, and a point for each two that follow each other. */
export interface LiveTraffic extends Traffic {
  readonly readings: readonly Reading[];
}

/** Points that are kept: five minutes of them. */
const MAX_POINTS = 150;
/** The requests per second are the mean of this time, so that they can be read. */
const MEAN_MS = 10_000;
/** Readings that are further apart cannot be compared, because they have no minute in common. */
const MAX_GAP_MS = 55_000;

/** The live traffic after another reading. */
export function withReading(before: LiveTraffic | undefined, reading: Reading): LiveTraffic {
  const { atMs, statistics } = reading;
  const kept = (before?.readings ?? []).filter((one) => {
    const ageMs = atMs - one.atMs;
    return ageMs > 0 && ageMs <= MEAN_MS + 1000;
  });
  const last = before?.readings.at(-1);
  const point: TrafficPoint = {
    atMs,
    ...rateBetween(last, reading),
    ...percentilesOf(statistics.total),
  };
  const mean = rateBetween(kept[0] ?? last, reading).requests;
  return {
    readings: [...kept, reading],
    points: [...(before?.points ?? []), point].slice(-MAX_POINTS),
    requestsPerSecond: mean ?? wholeRate(reading),
    errorShare: shareOf(statistics.total),
    ...percentilesOf(statistics.total),
    grpcStatuses: statistics.grpc_statuses,
  };
}

/** Requests and errors per second between two readings; null if they cannot be compared. */
function rateBetween(
  earlier: Reading | undefined,
  later: Reading,
): Pick<TrafficPoint, 'requests' | 'errors'> {
  const unknown = { requests: null, errors: null };
  if (earlier === undefined) return unknown;
  const tookMs = later.atMs - earlier.atMs;
  if (tookMs <= 0 || tookMs > MAX_GAP_MS) return unknown;
  // The earlier one may begin a minute earlier. Only minutes of both are compared.
  const fromMs = Date.parse(later.statistics.from);
  const sum = ({ statistics }: Reading, name: 'requests' | 'errors') =>
    statistics.steps
      .filter(({ at }) => Date.parse(at) >= fromMs)
      .reduce((total, step) => total + step[name], 0);
  const rate = (name: 'requests' | 'errors') =>
    Math.max(0, ((sum(later, name) - sum(earlier, name)) * 1000) / tookMs);
  return { requests: rate('requests'), errors: rate('errors') };
}

/** The rate of all minutes of a reading, until there is another one. */
function wholeRate({ atMs, statistics }: Reading): number {
  const seconds = Math.max(1, (atMs - Date.parse(statistics.from)) / 1000);
  return statistics.total.requests / seconds;
}
