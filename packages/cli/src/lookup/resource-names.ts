import { ApiError, type GatewayClient } from '@gateway/client';
import { revokedTokenNames, tokenNames } from '@gateway/client/token-names';

/**
 * The name of a service or a token by its id, also of a token that was revoked; the id itself if the token may not read it, or
 * it is a deleted service; null for none.
 */
export type NameOf = (id: string | null | undefined) => string | null;

/** So many services are read one by one; of more a list is read. */
const FEW = 4;
const PAGE = 200;
/** The most that a list is read of: a list of names is not worth more calls. */
const MAX_LISTED = 5000;

const ID = /^(svc|tok)_[0-9a-z]{26}$/;

/** Reads the names of these services and tokens. It never fails because of what the token may not read. */
export async function resourceNames(
  client: GatewayClient,
  ids: Iterable<string | null | undefined>,
): Promise<NameOf> {
  const wanted = [...new Set(ids)].filter((id) => typeof id === 'string' && ID.test(id));
  const of = (prefix: string) => wanted.filter((id) => id?.startsWith(prefix)) as string[];
  const found = await Promise.all([
    namesOfServices(client, of('svc_')),
    orNothing(() => tokenNames(client, of('tok_'))),
  ]);
  const names = new Map(found.flatMap((some) => some ?? []));
  const revoked = of('tok_').filter((id) => !names.has(id));
  if (revoked.length > 0) {
    const former = await orNothing(() => revokedTokenNames(client, revoked));
    for (const [id, name] of former ?? []) names.set(id, name);
  }
  return (id) => (id === null || id === undefined ? null : (names.get(id) ?? id));
}

type Named = readonly (readonly [id: string, name: string])[];

async function namesOfServices(client: GatewayClient, ids: readonly string[]): Promise<Named> {
  if (ids.length <= FEW) {
    const found = await Promise.all(
      ids.map((id) =>
        orNothing(() => client.get('/v1/services/{id}', { params: { path: { id } } })),
      ),
    );
    return found.flatMap((one) =>
      one === undefined ? [] : [[one.body.data.id, one.body.data.name]],
    );
  }
  const missing = new Set(ids);
  const names: [string, string][] = [];
  await orNothing(async () => {
    let count = 0;
    for await (const { id, name } of client.list('/v1/services', {
      params: { query: { limit: PAGE } },
    })) {
      if (missing.delete(id)) names.push([id, name]);
      if (missing.size === 0 || (count += 1) >= MAX_LISTED) break;
    }
  });
  return names;
}

/** What the API refuses is not known. */
async function orNothing<Result>(read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
