/** The periods of the page, s. Longer ones would count only their end, because records are counted. */
export const PERIODS = {
  '10m': { label: '10 min', seconds: 600 },
  '1h': { label: '1 h', seconds: 3600 },
  '24h': { label: '24 h', seconds: 86_400 },
} as const;

export type PeriodName = keyof typeof PERIODS;

/** What callers are ordered by, with the name of its column. */
export const ORDERS = {
  requests: 'Requests',
  errors: 'Errors',
  rate_limited: 'Refused by quota',
  quota_used: 'Quota',
} as const;

export type Order = keyof typeof ORDERS;

export const DEFAULT_PERIOD: PeriodName = '1h';
export const DEFAULT_ORDER: Order = 'requests';

/** What the URL of the page holds. */
export interface CallersSearch {
  readonly period?: PeriodName;
  readonly order?: Order;
  /** Only requests to the route of this name. */
  readonly route?: string;
}

/** Reads it from a URL. What is wrong there, or the default, is left out. */
export function callersSearch({ period, order, route }: Record<string, unknown>): CallersSearch {
  return {
    ...(isName(PERIODS, period) && period !== DEFAULT_PERIOD && { period }),
    ...(isName(ORDERS, order) && order !== DEFAULT_ORDER && { order }),
    ...((typeof route === 'string' && route !== '') || typeof route === 'number'
      ? { route: String(route).slice(0, 255) }
      : {}),
  };
}

function isName<T extends object>(names: T, value: unknown): value is keyof T & string {
  return typeof value === 'string' && Object.hasOwn(names, value);
}
