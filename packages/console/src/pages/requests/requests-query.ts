import { grpcStatusOf } from '@gateway/client/grpc-status';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { gateway, serverClock, type RequestList, type RequestListQuery } from '../../api/client.ts';
import { withNewest } from './live-tail.ts';
import { isFixed, periodEnds } from './periods.ts';
import type { RequestsSearch } from './requests-search.ts';

const LIVE_MS = 1000;
const PAGE_ROWS = 50;
/** A record is listed at the begin of its request, and may come up to this much later in most cases. */
const LOOK_BACK_MS = 15_000;
/** How often a live list is read as a whole, so that records of longer requests appear too. */
const WHOLE_MS = 15_000;

/** A page of request records, and when it was read as a whole, ms since the Unix epoch. */
export interface ShownRequests extends RequestList {
  readonly wholeAtMs: number;
}

/** Whether the list can follow what happens: only its first page can, and not one that ends at a time. */
export function canFollow({ cursor, until }: RequestsSearch): boolean {
  return cursor === undefined && until === undefined;
}

/** Whether the list follows what happens. */
export function isLive(search: RequestsSearch): boolean {
  return search.live !== false && canFollow(search);
}

/** A page of the requests of an environment. A live one reads only what is new, each second. */
export function requestsQuery(environment: string, search: RequestsSearch) {
  const live = isLive(search);
  // What stands beside the list does not change it.
  const queryKey = ['requests', environment, { ...search, live, open: undefined }] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }): Promise<ShownRequests> => {
      const read = async (since: string | undefined): Promise<RequestList> => {
        const query = {
          ...queryOf(environment, search),
          ...(since === undefined ? {} : { since }),
        };
        return (await gateway.get('/v1/requests', { params: { query }, signal })).body;
      };
      const shown = live ? client.getQueryData<ShownRequests>(queryKey) : undefined;
      const nowMs = serverClock.nowMs();
      const newestMs = Date.parse(shown?.data[0]?.received_at ?? '');
      if (shown !== undefined && nowMs - shown.wholeAtMs < WHOLE_MS && newestMs > 0) {
        const sinceMs = Math.max(
          newestMs - LOOK_BACK_MS,
          Date.parse(sinceOf(search, nowMs) ?? '') || 0,
        );
        const merged = withNewest(shown, await read(new Date(sinceMs).toISOString()));
        if (merged !== undefined) return { ...merged, wholeAtMs: shown.wholeAtMs };
      }
      return { ...(await read(sinceOf(search, nowMs))), wholeAtMs: nowMs };
    },
    placeholderData: keepPreviousData,
    refetchInterval: live ? LIVE_MS : false,
    // A list that stands still must not change when the reader returns to the window.
    ...(live ? {} : { staleTime: Infinity }),
  });
}

/** The record of one request. */
export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ['requests', 'one', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await gateway.get('/v1/requests/{id}', { params, signal })).body.data;
    },
    // A record never changes.
    staleTime: Infinity,
  });
}

/** The begin of the period. One that is no time goes to the API as it is, which says what is wrong with it. */
function sinceOf(search: RequestsSearch, nowMs: number): string | undefined {
  if (isFixed(search)) return search.since;
  return new Date(periodEnds(search, nowMs).fromMs).toISOString();
}

/** The filters as the API names them. */
export function apiFilters(environment: string, search: RequestsSearch) {
  const { route, status, outcome, kind, token, method, error, upstream, slower } = search;
  const { grpc, failed } = search;
  const isCode = status !== undefined && /^\d/.test(status) && !status.endsWith('xx');
  const query = {
    environment,
    route,
    ...(isCode ? { status: Number(status) } : { status_class: status }),
    outcome,
    grpc_status: grpc === undefined ? undefined : (grpcStatusOf(grpc) ?? Number(grpc)),
    kind,
    token_id: token,
    method,
    error_code: error,
    upstream,
    min_duration_ms: slower,
    failed: failed === true ? 'true' : undefined,
  };
  // The API says what is wrong with a value that somebody typed into the URL.
  return query as Omit<RequestListQuery, 'since' | 'until' | 'limit' | 'cursor'>;
}

function queryOf(environment: string, search: RequestsSearch): RequestListQuery {
  const { until, cursor } = search;
  return {
    ...apiFilters(environment, search),
    limit: PAGE_ROWS,
    ...(until === undefined ? {} : { until }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}
