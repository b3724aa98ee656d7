import type { Statistics } from '../../api/client.ts';
import { LIVE_SECONDS } from './periods.ts';
import { pointsOf, sumsOf, type Traffic } from './traffic.ts';

/** Statistics, and when they were read. */
export interface Reading {
  readonly atMs: number;
  readonly statistics: Statistics;
}

/** What happens now, and the readings of the last seconds. */
export interface LiveTraffic extends Traffic {
  readonly readings: readonly Reading[];
}

/** The requests per second are the mean of this time, so that they can be read. */
const MEAN_MS = 10_000;
/** Readings that are further apart cannot be compared, because they have no minute in common. */
const MAX_GAP_MS = 55_000;
const MINUTE_S = 60;

/**
 * The live traffic after another reading.
 *
 * @param history the minutes before, which are compared with what happens now
 */
export function withReading(
  before: LiveTraffic | undefined,
  reading: Reading,
  history: Reading,
): LiveTraffic {
  const { atMs, statistics } = reading;
  const kept = (before?.readings ?? []).filter((one) => {
    const ageMs = atMs - one.atMs;
    return ageMs > 0 && ageMs <= MEAN_MS + 1000;
  });
  const readings = [...kept, reading];
  const last = before?.readings.at(-1);
  const sums = sumsOf(statistics, atMs);
  const sinceMs = Date.parse(statistics.from);
  const range = { fromMs: atMs - LIVE_SECONDS * 1000, toMs: atMs };
  const past = pointsOf(history.statistics, MINUTE_S, atMs).filter(
    (point) => point.fromMs < sinceMs && point.toMs > range.fromMs,
  );
  return {
    readings,
    range,
    points: [...past, ...pointsOf(statistics, MINUTE_S, atMs)],
    sinceMs,
    sums: {
      ...sums,
      requestsPerSecond: rateBetween(kept[0] ?? last, reading) ?? sums.requestsPerSecond,
    },
    before: sumsOf(history.statistics, history.atMs),
    grpcStatuses: statistics.grpc_statuses,
  };
}

/** Requests per second between two readings; undefined if they cannot be compared. */
function rateBetween(earlier: Reading | undefined, later: Reading): number | undefined {
  if (earlier === undefined) return undefined;
  const tookMs = later.atMs - earlier.atMs;
  if (tookMs <= 0 || tookMs > MAX_GAP_MS) return undefined;
  // The earlier one may begin a minute earlier. Only minutes of both are compared.
  const fromMs = Date.parse(later.statistics.from);
  const sum = ({ statistics }: Reading) =>
    statistics.steps
      .filter(({ at }) => Date.parse(at) >= fromMs)
      .reduce((total, step) => total + step.requests, 0);
  return Math.max(0, ((sum(later) - sum(earlier)) * 1000) / tookMs);
}
