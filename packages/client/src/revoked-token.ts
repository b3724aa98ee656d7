import type { GatewayClient } from './client.ts';

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
): Promise<readonly (readonly [id: string, name: string])[]> {
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
