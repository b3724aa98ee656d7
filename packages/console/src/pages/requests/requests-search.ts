import type { RequestRecord } from '../../api/client.ts';
import { listSearch, type ListSearch } from '../list-search.ts';
import { PERIODS, type PeriodName } from './periods.ts';

/** The filters by a text. Their names are those in the URL. */
const TEXTS = [
  'route',
  'status',
  'outcome',
  'grpc',
  'kind',
  'method',
  'error',
  'token',
  'upstream',
] as const;

const TIMES = ['since', 'until'] as const;

type TextFilter = (typeof TEXTS)[number];

/** What the list shows. The URL has all of it. */
interface RequestFilters extends Readonly<Partial<Record<TextFilter, string>>> {
  /** Only requests that took at least this long, ms. */
  readonly slower?: number;
  /** Only those that count as errors. */
  readonly failed?: true;
  /** A period that ends now; absent: the usual one. */
  readonly period?: PeriodName;
  /** A period with fixed ends, RFC 3339. It takes precedence. */
  readonly since?: string;
  readonly until?: string;
}

/** The search parameters of the list. */
export interface RequestsSearch extends RequestFilters, ListSearch {
  /** false: the list does not change by itself. */
  readonly live?: false;
  /** The id of the request that is shown beside the list. */
  readonly open?: string;
}

/** Reads them from a URL. */
export function requestsSearch(given: Record<string, unknown>): RequestsSearch {
  const texts = Object.fromEntries(
    [...TEXTS, ...TIMES, 'open' as const].flatMap((name) => {
      const value = given[name];
      // The router reads `status=502` as a number.
      const text = typeof value === 'number' ? String(value) : value;
      return typeof text === 'string' && text !== '' ? [[name, text]] : [];
    }),
  );
  const { slower, live, failed, period } = given;
  const isFixed = TIMES.some((name) => texts[name] !== undefined);
  const known = typeof period === 'string' && Object.hasOwn(PERIODS, period) && !isFixed;
  return {
    ...texts,
    ...(typeof slower === 'number' && Number.isInteger(slower) && slower >= 0 ? { slower } : {}),
    ...(failed === true ? { failed } : {}),
    ...(known ? { period: period as PeriodName } : {}),
    ...listSearch(given),
    ...(live === false ? { live } : {}),
  };
}

/** Filters to set; undefined or an empty text removes one. */
export type FilterChange = {
  readonly [Name in keyof RequestFilters]?: RequestFilters[Name] | undefined;
};

/** The search with other filters, from the first page on, because a cursor belongs to the filters before. */
export function withRequestFilters(search: RequestsSearch, change: FilterChange): RequestsSearch {
  // A period of one kind replaces that of the other.
  const ends = 'period' in change ? { since: undefined, until: undefined } : {};
  return requestsSearch({ ...search, ...ends, ...change, cursor: undefined });
}

/** The search of a list that follows what happens, or not. */
export function withLive(search: RequestsSearch, live: boolean): RequestsSearch {
  return requestsSearch({ ...search, live });
}

/** The search with another request beside the list; undefined: none. */
export function withOpen(search: RequestsSearch, open: string | undefined): RequestsSearch {
  return requestsSearch({ ...search, open });
}

/** Whether any filter is set beside the period. */
export function hasFilters(search: RequestsSearch): boolean {
  const { slower, failed } = search;
  return (
    slower !== undefined || failed === true || TEXTS.some((name) => search[name] !== undefined)
  );
}

/** The filters and the period alone, as a view that is saved has them. */
export function filtersOf(search: RequestsSearch): RequestsSearch {
  return requestsSearch({ ...search, cursor: undefined, open: undefined, live: undefined });
}

/** The search for requests like this one: of the same route, with the same status and error, in a period that has it. */
export function similarSearch(
  {
    route,
    status,
    error_code: error,
    received_at: at,
  }: Pick<RequestRecord, 'route' | 'status' | 'error_code' | 'received_at'>,
  nowMs: number,
): RequestsSearch {
  const ageMs = nowMs - Date.parse(at);
  const period = ageMs < PERIODS['24h'].ms ? undefined : ageMs < PERIODS['7d'].ms ? '7d' : '30d';
  return {
    ...(route === null ? {} : { route }),
    status: status === null ? 'none' : String(status),
    ...(error === null ? {} : { error }),
    ...(period === undefined ? {} : { period }),
  };
}
