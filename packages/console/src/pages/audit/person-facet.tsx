import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { foundTokensQuery, MAX_TOKEN_SEARCH } from '../../api/found-tokens.ts';
import { useScope } from '../../api/rights.ts';
import { Facet } from '../../ui/facets/facet.tsx';
import type { AuditFilter } from './audit-search.ts';

const TYPING_MS = 200;

interface PersonFacetProps {
  readonly token: string | undefined;
  readonly nameOf: (tokenId: string) => string;
  readonly onChange: (change: AuditFilter) => void;
}

/** The token that made the change, those that were used last first. */
export function PersonFacet({ token, nameOf, onChange }: PersonFacetProps) {
  const { allowed } = useScope('tokens:read');
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim().slice(0, MAX_TOKEN_SEARCH), TYPING_MS);
  const { data: people = [] } = useQuery({
    ...foundTokensQuery('-last_used_at', search),
    enabled: allowed,
  });
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
