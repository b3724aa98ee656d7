import { listSearch, type ListSearch } from '../list-search.ts';

/** What the URL of the list holds. */
export interface RoutesSearch extends ListSearch {
  /** A part of the name. */
  readonly search?: string;
  readonly status?: 'active' | 'disabled';
  /** The id of a service. */
  readonly service?: string;
}

/** Filters to set; undefined removes one. */
export interface FilterChange {
  readonly search?: string | undefined;
  readonly status?: RoutesSearch['status'] | undefined;
  readonly service?: string | undefined;
}

/** Reads it from a URL. What is wrong there is left out. */
export function routesSearch(params: Record<string, unknown>): RoutesSearch {
  const { search, status, service } = params;
  return {
    ...listSearch(params),
    // The router reads a search of digits as a number.
    ...(isText(search) && { search: String(search).slice(0, 63) }),
    ...((status === 'active' || status === 'disabled') && { status }),
    ...(typeof service === 'string' && service !== '' && { service: service.slice(0, 64) }),
  };
}

/** Whether the list is not all routes of its environment from the first one on. */
export function hasFilters({ search, status, service, cursor }: RoutesSearch): boolean {
  return [search, status, service, cursor].some((value) => value !== undefined);
}

function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
