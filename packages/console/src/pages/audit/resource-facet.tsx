import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gateway } from '../../api/client.ts';
import { rightOf } from '../../api/needed-right.ts';
import { useCaller } from '../../api/rights.ts';
import { Facet, type FacetChoice } from '../../ui/facets/facet.tsx';
import type { AuditFilter, AuditSearch } from './audit-search.ts';

/** Of each kind. */
const SHOWN = 15;
const TYPING_MS = 200;
const MAX_SEARCH = 63;

type Kind = 'route' | 'service' | 'token';

/** The first resources by name whose name has the text. */
function resourcesQuery(environment: string, kinds: readonly Kind[], search: string) {
  return queryOptions({
    queryKey: ['resources', environment, kinds, search],
    queryFn: async ({ signal }): Promise<readonly FacetChoice[]> => {
      const found = await Promise.all(kinds.map((kind) => read(kind, environment, search, signal)));
      return found.flat();
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

async function read(kind: Kind, environment: string, search: string, signal: AbortSignal) {
  const query = { environment, search, limit: SHOWN };
  const ordered = { ...query, order: 'name' as const };
  const { body } =
    kind === 'route'
      ? await gateway.get('/v1/routes', { params: { query: ordered }, signal })
      : kind === 'token'
        ? await gateway.get('/v1/tokens', { params: { query: ordered }, signal })
        : await gateway.get('/v1/services', { params: { query }, signal });
  return body.data.map(({ id, name }) => ({ value: id, label: `${kind} ${name}` }));
}

interface ResourceFacetProps {
  readonly environment: string;
  readonly type: AuditSearch['type'];
  readonly resource: string | undefined;
  /** The name of the chosen one, if it is known. */
  readonly name: string | undefined;
  readonly onChange: (change: AuditFilter) => void;
}

/** The service, route or token that was changed. One that was deleted can be chosen in the list alone. */
export function ResourceFacet({ environment, type, resource, name, onChange }: ResourceFacetProps) {
  const caller = useCaller();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim().slice(0, MAX_SEARCH), TYPING_MS);
  const kinds = (['route', 'service', 'token'] as const).filter(
    (kind) =>
      (type === undefined || type === kind) && rightOf(caller, { scope: `${kind}s:read` }).allowed,
  );
  const { data: found = [] } = useQuery({
    ...resourcesQuery(environment, kinds, search),
    enabled: kinds.length > 0,
  });
  return (
    <Facet
      label="Resource"
      choices={found}
      value={resource}
      {...(name !== undefined && { valueLabel: name })}
      onChange={(value) => onChange({ resource: value })}
      isSearchable
      onSearch={setTyped}
    />
  );
}
