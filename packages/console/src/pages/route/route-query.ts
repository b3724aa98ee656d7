import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { gateway, ifMatch, type Route } from '../../api/client.ts';

/** A route as it was read, and its ETag. */
export interface RouteReading {
  readonly route: Route;
  readonly etag: string | undefined;
}

/** One route. */
export function routeQuery(id: string) {
  return queryOptions({
    queryKey: ['routes', 'one', id],
    queryFn: ({ signal }) => readRoute(id, signal),
    refetchInterval: 10_000,
  });
}

/** Reads a route as it is now. @throws ApiError, ConnectionError */
export async function readRoute(id: string, signal?: AbortSignal): Promise<RouteReading> {
  const params = { path: { id } };
  const answer = await gateway.get('/v1/routes/{id}', { params, ...(signal && { signal }) });
  return { route: answer.body.data, etag: answer.etag };
}

/**
 * Changes a route, if it is still as it was read, and shows the result on every page.
 * @throws ApiError, ConnectionError
 */
export async function patchRoute(
  queryClient: QueryClient,
  id: string,
  body: object,
  etag: string | undefined,
): Promise<RouteReading> {
  const params = { path: { id }, header: ifMatch(etag) };
  // The API checks every field of a form, and says what is wrong.
  const answer = await gateway.patch('/v1/routes/{id}', { params, body });
  const { body: changed, etag: newEtag } = answer;
  const reading =
    changed === undefined ? await readRoute(id) : { route: changed.data, etag: newEtag };
  queryClient.setQueryData(routeQuery(id).queryKey, reading);
  void queryClient.invalidateQueries({ queryKey: ['routes'] });
  return reading;
}

/** Deletes a route, if it is still as it was read. @throws ApiError, ConnectionError */
export async function deleteRoute(id: string, etag: string | undefined): Promise<void> {
  await gateway.delete('/v1/routes/{id}', { params: { path: { id }, header: ifMatch(etag) } });
}
