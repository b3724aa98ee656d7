import type { GatewayClient } from './client.ts';

type Named = readonly (readonly [id: string, name: string])[];

/** In one call, whose path has all of them. */
const MAX_IDS = 100;

/**
 * The names of these tokens, without those that were revoked or that the caller may not see.
 * @throws ApiError if the caller may read no tokens, ConnectionError
 */
export async function tokenNames(
  client: Pick<GatewayClient, 'get'>,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Named> {
  const names: [string, string][] = [];
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    const query = { ids: ids.slice(at, at + MAX_IDS).join(','), limit: MAX_IDS };
    const options = { params: { query }, ...(signal === undefined ? {} : { signal }) };
    const { data } = (await client.get('/v1/tokens', options)).body;
    for (const { id, name } of data) names.push([id, name]);
  }
  return names;
}

/** Each name is a call: of more tokens the ids say enough. */
const MAX_NAMES = 20;

/**
 * The names that these tokens had when they were revoked, such as `ana (revoked)`. Their audit events have them for 400 days.
 * @param ids tokens that the API does not find any more
 * @throws ApiError if the caller may not read the audit, ConnectionError
 */
export async function revokedTokenNames(
  client: Pick<GatewayClient, 'get'>,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Named> {
  const found = await Promise.all(
    ids.slice(0, MAX_NAMES).map(async (id) => {
      const query = { resource_id: id, action: 'token.revoked', limit: 1 } as const;
      const options = { params: { query }, ...(signal === undefined ? {} : { signal }) };
      const [event] = (await client.get('/v1/audit-events', options)).body.data;
      const name = event?.before?.['name'];
      return typeof name === 'string' ? ([id, `${name} (revoked)`] as const) : undefined;
    }),
  );
  return found.filter((one) => one !== undefined);
}
