import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { operations } from '@gateway/client';
import { gateway, serverClock } from '../../api/client.ts';
import { periodEnds, type PeriodEnds } from './periods.ts';
import type { Counts } from './histogram/counts.ts';
import { apiFilters, isLive } from './requests-query.ts';
import { filtersOf, type RequestsSearch } from './requests-search.ts';

type CountQuery = NonNullable<operations['countRequests']['parameters']['query']>;

/** By what requests can be counted. */
export type CountedBy = NonNullable<CountQuery['by']>;

const LIVE_MS = 10_000;
/** The oldest records of a period of 30 days are cut. */
const ROUNDING_MS = 60_000;

/** The requests of the list by time and class of status. */
export function histogramQuery(environment: string, search: RequestsSearch) {
  return queryOptions({
    queryKey: ['requests', environment, 'histogram', filtersOf(search)],
    queryFn: async ({ signal }): Promise<Counts> => {
      const period = periodEnds(search, serverClock.nowMs());
      const query = { ...apiFilters(environment, search), ...endsOf(period) };
      const { body } = await gateway.get('/v1/stats/requests', { params: { query }, signal });
      const { counted_from: from, requests, step_seconds: seconds, steps } = body.data;
      return {
        period,
        countedFromMs: Date.parse(from),
        requests,
        stepMs: seconds * 1000,
        steps: steps.map(({ at, requests: byClass }) => ({ atMs: Date.parse(at), byClass })),
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: isLive(search) ? LIVE_MS : false,
    ...(isLive(search) ? {} : { staleTime: Infinity }),
  });
}

/**
 * The values that a filter could have, with the number of requests that it would leave; `countedFrom` if older requests
 * were too many to be counted.
 */
export function facetQuery(environment: string, search: RequestsSearch, by: CountedBy) {
  return queryOptions({
    queryKey: ['requests', environment, 'facet', by, filtersOf(search)],
    queryFn: async ({ signal }) => {
      const period = endsOf(periodEnds(search, serverClock.nowMs()));
      const query = { ...apiFilters(environment, search), ...period, by, limit: 200 };
      const { body } = await gateway.get('/v1/stats/requests', { params: { query }, signal });
      const { values, counted_from: from, from: wholeFrom } = body.data;
      const isWhole = Date.parse(from) - Date.parse(wholeFrom) < ROUNDING_MS;
      return { values, countedFrom: isWhole ? undefined : from };
    },
    staleTime: 10_000,
  });
}

function endsOf({ fromMs, toMs }: PeriodEnds) {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
