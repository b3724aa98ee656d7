import type { components } from '@gateway/client';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { gateway, ifMatch, type Service } from '../../api/client.ts';

type ServiceCreate = components['schemas']['ServiceCreate'];

/** A service as it was read, and its ETag. */
export interface ServiceReading {
  readonly service: Service;
  readonly etag: string | undefined;
}

/** One service. */
export function serviceQuery(id: string) {
  return queryOptions({
    queryKey: ['services', 'one', id],
    queryFn: ({ signal }) => readService(id, signal),
    // A new service has its first status after some seconds, and its health stands beside it.
    refetchInterval: 3000,
  });
}

/** Reads a service as it is now. @throws ApiError, ConnectionError */
export async function readService(id: string, signal?: AbortSignal): Promise<ServiceReading> {
  const params = { path: { id } };
  const answer = await gateway.get('/v1/services/{id}', { params, ...(signal && { signal }) });
  return { service: answer.body.data, etag: answer.etag };
}

/** Creates a service. The API checks what was typed. @throws ApiError, ConnectionError */
export async function createService(body: object): Promise<Service> {
  return (await gateway.post('/v1/services', { body: body as ServiceCreate })).body.data;
}

/**
 * Changes a service, if it is still as it was read, and shows the result on every page.
 * @throws ApiError, ConnectionError
 */
export async function patchService(
  queryClient: QueryClient,
  id: string,
  body: object,
  etag: string | undefined,
): Promise<ServiceReading> {
  const params = { path: { id }, header: ifMatch(etag) };
  const answer = await gateway.patch('/v1/services/{id}', { params, body });
  const { body: changed, etag: newEtag } = answer;
  const reading =
    changed === undefined ? await readService(id) : { service: changed.data, etag: newEtag };
  queryClient.setQueryData(serviceQuery(id).queryKey, reading);
  void queryClient.invalidateQueries({ queryKey: ['services'] });
  void queryClient.invalidateQueries({ queryKey: ['service-health', id] });
  return reading;
}

/** Deletes a service, if it is still as it was read. @throws ApiError, ConnectionError */
export async function deleteService(id: string, etag: string | undefined): Promise<void> {
  const params = { path: { id }, header: ifMatch(etag) };
  await gateway.delete('/v1/services/{id}', { params });
}
