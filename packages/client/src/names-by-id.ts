import type { Answer, GatewayClient, operations } from './client.ts';

/** Names of resources by their ids. */
export type Named = readonly (readonly [id: string, name: string])[];

type EventPage = operations['listAuditEvents']['responses'][200]['content']['application/json'];
type Reader = Pick<GatewayClient, 'get'>;

/** In one call, whose path has all of them. */
const MAX_IDS = 100;
/** A search of the audit that takes long comes in parts. */
const MAX_PARTS = 5;

/**
 * The names of these tokens, without those that were revoked or that the caller may not see. A call for each 100.
 * @throws ApiError if the caller may read no tokens, ConnectionError
 */
export function tokenNames(
  client: Reader,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Named> {
  return listedNames(client, '/v1/tokens', ids, signal);
}

/**
 * The names of these services, without those that were deleted or that the caller may not see. A call for each 100.
 * @throws ApiError if the caller may read no services, ConnectionError
 */
export function serviceNames(
  client: Reader,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Named> {
  return listedNames(client, '/v1/services', ids, signal);
}

function listedNames(
  client: Reader,
  list: '/v1/tokens' | '/v1/services',
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Named> {
  return inChunks(ids, async (some) => {
    const query = { ids: some.join(','), limit: MAX_IDS };
    const { data } = (await client.get(list, { params: { query }, ...withSignal(signal) })).body;
    return data.map(({ id, name }) => [id, name] as const);
  });
}

/** What says that a resource is gone, and the word for it. */
const ENDS = {
  token: ['token.revoked', 'revoked'],
  service: ['service.deleted', 'deleted'],
} as const;

/**
 * The names that these resources had when they were revoked or deleted, such as `ana (revoked)`. Their audit events have
 * them for 400 days. A call for each 100.
 * @param ids those that the API does not find any more
 * @throws ApiError if the caller may not read the audit, ConnectionError
 */
export function formerNames(
  client: Reader,
  kind: keyof typeof ENDS,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Named> {
  const [action, ended] = ENDS[kind];
  return inChunks(ids, async (some) => {
    const names = new Map<string, string>();
    let cursor: string | null = null;
    for (let part = 0; part < MAX_PARTS; part += 1) {
      const query = { resource_ids: some.join(','), action, limit: MAX_IDS };
      const params = { query: { ...query, ...(cursor === null ? {} : { cursor }) } };
      const answer: Answer<EventPage> = await client.get('/v1/audit-events', {
        params,
        ...withSignal(signal),
      });
      const page = answer.body;
      for (const { resource_id: id, before } of page.data) {
        const name = before?.['name'];
        if (typeof name === 'string') names.set(id, `${name} (${ended})`);
      }
      cursor = page.next_cursor;
      if (cursor === null || names.size === some.length) break;
    }
    return [...names];
  });
}

async function inChunks(
  ids: readonly string[],
  read: (some: readonly string[]) => Promise<Named>,
): Promise<Named> {
  const names: (readonly [string, string])[] = [];
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    names.push(...(await read(ids.slice(at, at + MAX_IDS))));
  }
  return names;
}

function withSignal(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
