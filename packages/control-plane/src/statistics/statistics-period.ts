import { oldestReadableMs } from '../requests/request-record.ts';
import { bucketStart } from './statistics-segments.ts';

const MINUTE_S = 60;
const DEFAULT_PERIOD_MS = 60 * 60 * 1000;

/** A period of whole minutes, ms since the Unix epoch. */
export interface StatisticsPeriod {
  readonly fromMs: number;
  readonly toMs: number;
  /** The begin of what is kept of it. */
  readonly keptFromMs: number;
}

/** The period that was asked for: by default the last hour. Undefined if it is empty. */
export function statisticsPeriod(
  from: number | undefined,
  to: number | undefined,
  nowMs: number,
): StatisticsPeriod | undefined {
  const toMs = endOfMinute(to ?? nowMs);
  const fromMs = bucketStart(from ?? toMs - DEFAULT_PERIOD_MS, MINUTE_S);
  if (fromMs >= toMs) return undefined;
  const oldestMs = bucketStart(oldestReadableMs(nowMs), MINUTE_S) + MINUTE_S * 1000;
  return { fromMs, toMs, keptFromMs: Math.max(fromMs, oldestMs) };
}

function endOfMinute(ms: number): number {
  return Math.ceil(ms / (MINUTE_S * 1000)) * MINUTE_S * 1000;
}
