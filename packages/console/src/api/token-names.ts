import { queryOptions, useQuery } from '@tanstack/react-query';
import { revokedTokenNames, tokenNames } from '@gateway/client/token-names';
import { gateway } from './client.ts';
import { useScope } from './rights.ts';

interface ReadOptions {
  /** Whether the session may read the audit, which has the names of tokens that were revoked. */
  readonly seesAudit: boolean;
  readonly signal?: AbortSignal;
}

/** The names of these tokens by id, without those that the session may not see. @throws ApiError, ConnectionError */
export async function readTokenNames(
  ids: readonly (string | null)[],
  { seesAudit, signal }: ReadOptions,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const names = new Map(await tokenNames(gateway, wanted, signal));
  const missing = wanted.filter((id) => !names.has(id));
  if (seesAudit && missing.length > 0) {
    for (const [id, name] of await revokedTokenNames(gateway, missing, signal)) names.set(id, name);
  }
  return names;
}

/** Where the name of one token is kept, so that another page of a list asks for those of new tokens only. */
function nameKey(id: string) {
  return ['tokens', 'name', id];
}

/** The names of tokens by id. */
function namesOfTokensQuery(ids: readonly string[], seesAudit: boolean) {
  return queryOptions({
    // Begins as the list of tokens does, so that a change of one refreshes it.
    queryKey: ['tokens', 'names of', ids, seesAudit],
    queryFn: async ({ client, signal }) => {
      const known = new Map<string, string>();
      for (const id of ids) {
        const { data, isInvalidated } = client.getQueryState<string>(nameKey(id)) ?? {};
        if (data !== undefined && isInvalidated === false) known.set(id, data);
      }
      const missing = ids.filter((id) => !known.has(id));
      const read = await readTokenNames(missing, { seesAudit, signal });
      for (const [id, name] of read) client.setQueryData(nameKey(id), name);
      return new Map([...known, ...read]);
    },
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
}

/**
 * Names the tokens of a list: one that was revoked as `ana (revoked)`, one that the session may not see by its id.
 * @param ids may have an id twice; null: the gateway itself
 */
export function useNamesOfTokens(ids: readonly (string | null)[]): (id: string) => string {
  const { allowed } = useScope('tokens:read');
  const { allowed: seesAudit } = useScope('audit:read');
  const asked = [...new Set(ids)].filter((id) => id !== null).toSorted();
  const { data } = useQuery({
    ...namesOfTokensQuery(asked, seesAudit),
    enabled: allowed && asked.length > 0,
  });
  return (id) => data?.get(id) ?? id;
}
