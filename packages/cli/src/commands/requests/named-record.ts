import { ApiError, type components } from '@gateway/client';
import { resourceNames } from '../../lookup/resource-names.ts';
import type { Session } from '../../session.ts';

type RequestRecord = components['schemas']['RequestRecord'];

/** What the ids of a record mean now. */
export interface NamedRecord {
  /** The name of the service, with its id in wide output; null: none was chosen. */
  readonly service: string | null;
  readonly token: string | null;
  /** The URL of an upstream; its id if the service does not have it any more. */
  readonly upstream: (id: string) => string;
}

/** Reads the service and the token of a record. What the token of the context may not read keeps its id. */
export async function nameReferences(
  { client, output }: Session,
  { service_id: serviceId, token_id: tokenId, upstream, attempts }: RequestRecord,
): Promise<NamedRecord> {
  const urls = new Map(upstream === null ? [] : [[upstream.id, upstream.url]]);
  const hasOthers = attempts.some((attempt) => !urls.has(attempt.upstream));
  const [nameOf, others] = await Promise.all([
    resourceNames(client, [serviceId, tokenId]),
    serviceId !== null && hasOthers ? upstreamsOf(client, serviceId) : [],
  ]);
  for (const { id, url } of others) urls.set(id, url);
  const label = (id: string | null) => {
    const name = nameOf(id);
    return output === 'wide' && name !== id ? `${name} (${id})` : name;
  };
  return {
    service: label(serviceId),
    token: label(tokenId),
    upstream: (id) => urls.get(id) ?? id,
  };
}

/** The health of a service has its upstreams with their ids. */
async function upstreamsOf(client: Session['client'], id: string) {
  try {
    const params = { path: { id } };
    return (await client.get('/v1/services/{id}/health', { params })).body.data.upstreams;
  } catch (error) {
    // It is deleted, or the token may not read it.
    if (error instanceof ApiError) return [];
    throw error;
  }
}
