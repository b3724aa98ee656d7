import { listSearch, type ListSearch } from '../list-search.ts';

/** The states by which services can be filtered, in their order. `failing`: degraded or unhealthy. */
export const SERVICE_STATES = ['failing', 'unhealthy', 'degraded', 'healthy', 'unknown'] as const;

export type ServiceState = (typeof SERVICE_STATES)[number];

/** What the list of services shows. The URL has all of it. */
export interface ServicesSearch extends ListSearch {
  /** A part of a name or of the URL of an upstream. */
  readonly search?: string;
  readonly status?: ServiceState;
}

/** Reads it from a URL. */
export function servicesSearch(given: Record<string, unknown>): ServicesSearch {
  const { search } = given;
  // The router reads `search=17` as a number.
  const text = typeof search === 'number' ? String(search) : search;
  const status = SERVICE_STATES.find((one) => one === given['status']);
  return {
    ...listSearch(given),
    ...(typeof text === 'string' && text !== '' && { search: text }),
    ...(status !== undefined && { status }),
  };
}
