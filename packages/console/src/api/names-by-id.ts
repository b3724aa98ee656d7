import { formerNames, serviceNames, tokenNames } from '@gateway/client/names-by-id';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { gateway } from './client.ts';
import { useScope } from './rights.ts';

type Kind = 'token' | 'service';

interface ReadOptions {
  /** Whether the session may read the audit, which has the names of what was revoked or deleted. */
  readonly seesAudit: boolean;
  readonly signal?: AbortSignal;
}

const READ = { token: tokenNames, service: serviceNames } as const;

/**
 * The names of these tokens or services by id, without those that the session may not see.
 * @throws ApiError, ConnectionError
 */
export async function readNames(
  kind: Kind,
  ids: readonly (string | null)[],
  { seesAudit, signal }: ReadOptions,
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const names = new Map(await READ[kind](gateway, wanted, signal));
  const gone = wanted.filter((id) => !names.has(id));
  if (seesAudit) {
    for (const [id, name] of await formerNames(gateway, kind, gone, signal)) names.set(id, name);
  }
  return names;
}

/** Where the name of one is kept, so that another page of a list asks for those of new ones only. */
function nameKey(kind: Kind, id: string) {
  return [`${kind}s`, 'name', id];
}

/** The names of tokens or services by id. */
function namesQuery(kind: Kind, ids: readonly string[], seesAudit: boolean) {
  return queryOptions({
    // Begins as the lists of tokens and services do, so that a change of one refreshes it.
    queryKey: [`${kind}s`, 'names of', ids, seesAudit],
    queryFn: async ({ client, signal }) => {
      const known = new Map<string, string>();
      for (const id of ids) {
        const state = client.getQueryState<string>(nameKey(kind, id));
        if (state?.data !== undefined && !state.isInvalidated) known.set(id, state.data);
      }
      const missing = ids.filter((id) => !known.has(id));
      const read = await readNames(kind, missing, { seesAudit, signal });
      for (const [id, name] of read) client.setQueryData(nameKey(kind, id), name);
      return new Map([...known, ...read]);
    },
    staleTime: 30_000,
    placeholderData: (before) => before,
  });
}

interface Names {
  readonly nameOf: (id: string) => string;
  /** Whether the first names are asked for. */
  readonly isLoading: boolean;
}

/**
 * Names the tokens or services of a list: one that was revoked or deleted as `ana (revoked)`, one that the session may not
 * see by its id.
 * @param ids may have an id twice; null: none
 */
export function useNames(kind: Kind, ids: readonly (string | null)[]): Names {
  const { allowed } = useScope(`${kind}s:read`);
  const { allowed: seesAudit } = useScope('audit:read');
  const asked = [...new Set(ids)].filter((id) => id !== null).toSorted();
  const { data, isLoading } = useQuery({
    ...namesQuery(kind, asked, seesAudit),
    enabled: allowed && asked.length > 0,
  });
  return { nameOf: (id) => data?.get(id) ?? id, isLoading };
}
