import { Button, Group, NativeSelect } from '@mantine/core';
import { RESOURCE_TYPES, type AuditFilter, type AuditSearch } from './audit-search.ts';

interface AuditFiltersProps {
  readonly search: AuditSearch;
  readonly nameOf: (tokenId: string) => string;
  readonly onChange: (change: AuditFilter) => void;
}

/** Which changes are shown. Those of one token or one resource are chosen in the list itself. */
export function AuditFilters({ search, nameOf, onChange }: AuditFiltersProps) {
  const { type, token, resource } = search;
  return (
    <Group gap="sm">
      <NativeSelect
        aria-label="Kind of resource"
        value={type ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange({ type: RESOURCE_TYPES.find((one) => one === value) })
        }
        data={[
          { value: '', label: 'Everything' },
          { value: 'service', label: 'Services' },
          { value: 'route', label: 'Routes' },
          { value: 'token', label: 'Tokens' },
          { value: 'environment', label: 'Environments' },
        ]}
      />
      {token !== undefined && (
        <Button variant="default" onClick={() => onChange({ token: undefined })}>
          By {nameOf(token)} ×
        </Button>
      )}
      {resource !== undefined && (
        <Button variant="default" onClick={() => onChange({ resource: undefined })}>
          Only {resource} ×
        </Button>
      )}
    </Group>
  );
}
