import { listSearch, type ListSearch } from '../list-search.ts';

/** What the list can be ordered by; the API has more. */
const ORDERS = ['name', 'updated_at', 'requests', 'error_rate', 'p95_ms'].flatMap((by) => [
  by,
  `-${by}`,
]) as RouteOrder[];

type OrderedBy = 'name' | 'updated_at' | 'requests' | 'error_rate' | 'p95_ms';

/** An order of the list; a minus reverses it. */
export type RouteOrder = OrderedBy | `-${OrderedBy}`;

/** What the URL of the list holds. */
export interface RoutesSearch extends ListSearch {
  /** A part of the name. */
  readonly search?: string;
  readonly status?: 'active' | 'disabled';
  /** The id of a service. */
  readonly service?: string;
  /** Absent: by name. */
  readonly order?: RouteOrder;
}

/** Filters to set; undefined removes one. */
export type FilterChange = {
  readonly [Name in keyof Omit<RoutesSearch, 'cursor'>]?: RoutesSearch[Name] | undefined;
};

/** Reads it from a URL. What is wrong there is left out. */
export function routesSearch(params: Record<string, unknown>): RoutesSearch {
  const { search, status, service, order } = params;
  const known = ORDERS.find((one) => one === order);
  return {
    ...listSearch(params),
    // The router reads a search of digits as a number.
    ...(isText(search) && { search: String(search).slice(0, 63) }),
    ...((status === 'active' || status === 'disabled') && { status }),
    ...(typeof service === 'string' && service !== '' && { service: service.slice(0, 64) }),
    ...(known !== undefined && { order: known }),
  };
}

/** Whether the list is not all routes of its environment from the first one on. */
export function hasFilters({ search, status, service, cursor }: RoutesSearch): boolean {
  return [search, status, service, cursor].some((value) => value !== undefined);
}

function isText(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
