import type { Route } from '../../api/client.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

/** The requests of an hour by minute. */
export interface QuotaCounts {
  readonly steps: readonly {
    readonly at: string;
    readonly requests: number;
    readonly rejected: number;
  }[];
}

/** How much of its quota a route used in the last hour, or why statistics do not say. */
export type QuotaUse =
  | {
      /** Of the busiest window; 1: all of it. */
      readonly share: number;
      /** Requests that counted in that window. */
      readonly used: number;
      /** Whether windows are shorter than a minute, so that bursts within one are not seen. */
      readonly isMean: boolean;
    }
  | {
      readonly unknown: string;
      /** Whether the callers have quotas of their own, which the page of callers shows. */
      readonly isByCaller: boolean;
    };

/**
 * How near a route came to 429. Windows begin at multiples of their length, and statistics have whole minutes: so windows
 * of whole minutes are counted exactly, but for requests that are refused after the quota or were under way. Requests that
 * were refused before do not count.
 */
export function quotaUse(
  { rate_limit: quota }: Pick<Route, 'rate_limit'>,
  counted: QuotaCounts,
): QuotaUse {
  const { limit, window_seconds: seconds, per } = quota;
  if (per !== 'route') {
    const whom = per === 'token' ? 'caller' : 'client address';
    return {
      unknown: `Each ${whom} has a quota of its own: see who is near it.`,
      isByCaller: true,
    };
  }
  if (seconds > HOUR_S)
    return { unknown: 'The window is longer than the hour that is shown here.', isByCaller: false };
  if (seconds > MINUTE_S && seconds % MINUTE_S !== 0) {
    return {
      unknown: 'The window is not of whole minutes, and statistics are kept by minute.',
      isByCaller: false,
    };
  }
  const isMean = seconds < MINUTE_S;
  const windowMs = Math.max(seconds, MINUTE_S) * 1000;
  const windows = new Map<number, number>();
  for (const { at, requests, rejected } of counted.steps) {
    const begin = Math.floor(Date.parse(at) / windowMs);
    windows.set(begin, (windows.get(begin) ?? 0) + requests - rejected);
  }
  const busiest = Math.max(0, ...windows.values());
  const used = isMean ? (busiest * seconds) / MINUTE_S : busiest;
  return { share: used / limit, used, isMean };
}
