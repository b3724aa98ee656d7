import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gateway } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { Facet } from '../../ui/facets/facet.tsx';
import type { AuditFilter } from './audit-search.ts';

const SHOWN = 50;
const TYPING_MS = 200;
const MAX_SEARCH = 63;

function peopleQuery(search: string) {
  return queryOptions({
    queryKey: ['tokens', 'people', search],
    queryFn: async ({ signal }) => {
      const query = { order: '-last_used_at' as const, search, limit: SHOWN };
      const { data } = (await gateway.get('/v1/tokens', { params: { query }, signal })).body;
      return data.map(({ id, name }) => ({ value: id, label: name }));
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

interface PersonFacetProps {
  readonly token: string | undefined;
  readonly nameOf: (tokenId: string) => string;
  readonly onChange: (change: AuditFilter) => void;
}

/** The token that made the change, those that were used last first. */
export function PersonFacet({ token, nameOf, onChange }: PersonFacetProps) {
  const { allowed } = useScope('tokens:read');
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim().slice(0, MAX_SEARCH), TYPING_MS);
  const { data: people = [] } = useQuery({ ...peopleQuery(search), enabled: allowed });
  return (
    <Facet
      label="Who"
      choices={people}
      value={token}
      {...(token !== undefined && { valueLabel: nameOf(token) })}
      onChange={(value) => onChange({ token: value })}
      isSearchable
      onSearch={setTyped}
    />
  );
}
