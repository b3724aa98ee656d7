import { ApiError, type GatewayClient } from '@gateway/client';
import { formerNames, serviceNames, tokenNames, type Named } from '@gateway/client/names-by-id';

/**
 * The name of a service or a token by its id, also of one that was deleted or revoked; the id itself if the token may not
 * read it; null for none.
 */
export type NameOf = (id: string | null | undefined) => string | null;

const ID = /^(svc|tok)_[0-9a-z]{26}$/;

/** Reads the names of these services and tokens. It never fails because of what the token may not read. */
export async function resourceNames(
  client: GatewayClient,
  ids: Iterable<string | null | undefined>,
): Promise<NameOf> {
  const wanted = [...new Set(ids)].filter((id) => typeof id === 'string' && ID.test(id));
  const of = (prefix: string) => wanted.filter((id) => id?.startsWith(prefix)) as string[];
  const found = await Promise.all([
    namesOf(client, 'service', of('svc_')),
    namesOf(client, 'token', of('tok_')),
  ]);
  const names = new Map(found.flat());
  return (id) => (id === null || id === undefined ? null : (names.get(id) ?? id));
}

async function namesOf(
  client: GatewayClient,
  kind: 'service' | 'token',
  ids: readonly string[],
): Promise<Named> {
  const read = kind === 'service' ? serviceNames : tokenNames;
  const named = (await orNothing(() => read(client, ids))) ?? [];
  const known = new Set(named.map(([id]) => id));
  const gone = ids.filter((id) => !known.has(id));
  return [...named, ...((await orNothing(() => formerNames(client, kind, gone))) ?? [])];
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
