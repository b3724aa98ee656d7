import type { RequestRecord } from '../../api/client.ts';
import { listSearch, type ListSearch } from '../list-search.ts';

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
  'since',
  'until',
] as const;

type TextFilter = (typeof TEXTS)[number];

/** What the list shows. The URL has all of it. */
interface RequestFilters extends Readonly<Partial<Record<TextFilter, string>>> {
  /** Only requests that took at least this long, ms. */
  readonly slower?: number;
}

/** The search parameters of the list. */
export interface RequestsSearch extends RequestFilters, ListSearch {
  /** false: the list does not change by itself. */
  readonly live?: false;
}

/** Reads them from a URL. */
export function requestsSearch(given: Record<string, unknown>): RequestsSearch {
  const texts = Object.fromEntries(
    TEXTS.flatMap((name) => {
      const value = given[name];
      // The router reads `status=502` as a number.
      const text = typeof value === 'number' ? String(value) : value;
      return typeof text === 'string' && text !== '' ? [[name, text]] : [];
    }),
  );
  const { slower, live } = given;
  return {
    ...texts,
    ...(typeof slower === 'number' && Number.isInteger(slower) && slower >= 0 ? { slower } : {}),
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
  const changed = { ...search, ...change, cursor: undefined };
  return requestsSearch(changed);
}

/** The search of a list that follows what happens, or not. */
export function withLive(search: RequestsSearch, live: boolean): RequestsSearch {
  return requestsSearch({ ...search, live });
}

/** Whether any filter is set. */
export function hasFilters(search: RequestsSearch): boolean {
  return search.slower !== undefined || TEXTS.some((name) => search[name] !== undefined);
}

/** Whether a filter is set that is used less, so that its field should be seen. */
export function hasMoreFilters(search: RequestsSearch): boolean {
  return hasFilters({ ...withRequestFilters(search, { route: '', status: '', outcome: '' }) });
}

/** The search for requests like this one: of the same route, with the same status and error. */
export function similarSearch({
  route,
  status,
  error_code: error,
}: Pick<RequestRecord, 'route' | 'status' | 'error_code'>): RequestsSearch {
  return {
    ...(route === null ? {} : { route }),
    status: status === null ? 'none' : String(status),
    ...(error === null ? {} : { error }),
  };
}
