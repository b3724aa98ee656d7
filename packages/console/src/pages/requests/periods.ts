const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The periods that end now. */
export const PERIODS = {
  '15m': { label: '15 min', ms: 15 * MINUTE_MS },
  '1h': { label: '1 h', ms: HOUR_MS },
  '24h': { label: '24 h', ms: DAY_MS },
  '7d': { label: '7 d', ms: 7 * DAY_MS },
  '30d': { label: '30 d', ms: 30 * DAY_MS },
} as const;

export type PeriodName = keyof typeof PERIODS;

/** What is shown if the URL names no period. */
export const USUAL_PERIOD: PeriodName = '24h';

interface Chosen {
  readonly period?: PeriodName;
  readonly since?: string;
  readonly until?: string;
}

/** A period with both ends, ms since the Unix epoch. */
export interface PeriodEnds {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whether the period has an end that does not move. */
export function isFixed({ since, until }: Chosen): boolean {
  return since !== undefined || until !== undefined;
}

/** The ends of what the URL asks for. An end that is no time is left to the API, which says what is wrong with it. */
export function periodEnds(chosen: Chosen, nowMs: number): PeriodEnds {
  const toMs = timeOf(chosen.until) ?? nowMs;
  const { ms } = PERIODS[isFixed(chosen) ? '30d' : (chosen.period ?? USUAL_PERIOD)];
  return { fromMs: timeOf(chosen.since) ?? toMs - ms, toMs };
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
