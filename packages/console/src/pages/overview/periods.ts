/**
 * The periods of the overview: their length, the step of their charts, and how often they are read again. The
 * longest one is two minutes shorter than 30 days, because its ends are rounded to minutes, and it has 120 steps at most.
 */
export const PERIODS = {
  '1h': { label: '1 h', seconds: 3600, step: '1m', stepSeconds: 60, everyMs: 10_000 },
  '24h': { label: '24 h', seconds: 86_400, step: '15m', stepSeconds: 900, everyMs: 30_000 },
  '7d': { label: '7 d', seconds: 604_800, step: '6h', stepSeconds: 21_600, everyMs: 60_000 },
  '30d': { label: '30 d', seconds: 2_591_880, step: '6h', stepSeconds: 21_600, everyMs: 60_000 },
} as const;

export type PeriodName = keyof typeof PERIODS;

/** What the charts show while the overview is live. */
export const LIVE_SECONDS = 30 * 60;

/** Statistics are kept that long. */
const KEPT_SECONDS = 30 * 86_400;

/** Whether the statistics still have the time before the period that is as long as it. */
export function hasPeriodBefore(name: PeriodName): boolean {
  return 2 * PERIODS[name].seconds <= KEPT_SECONDS;
}

/** What the overview shows. */
export interface OverviewSearch {
  /** Absent: what happens now. */
  readonly period?: PeriodName;
}

/** Reads it from a URL. */
export function overviewSearch({ period }: Record<string, unknown>): OverviewSearch {
  return typeof period === 'string' && Object.hasOwn(PERIODS, period)
    ? { period: period as PeriodName }
    : {};
}
