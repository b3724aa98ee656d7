import { Group, NativeSelect, Select } from '@mantine/core';
import type { NamedService } from '../../api/service-names.ts';
import { TypedSearch } from '../../ui/typed-search.tsx';
import type { FilterChange, RoutesSearch } from './routes-search.ts';

interface RouteFiltersProps {
  readonly filters: RoutesSearch;
  readonly services: readonly NamedService[];
  readonly onChange: (change: FilterChange) => void;
}

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
];

/** The search and the filters above the list. */
export function RouteFilters({ filters, services, onChange }: RouteFiltersProps) {
  const { search = '', status = '', service } = filters;
  return (
    <Group gap="sm" align="flex-end">
      <TypedSearch
        label="Search routes"
        maxLength={63}
        search={search}
        onSearch={(text) => onChange({ search: text === '' ? undefined : text })}
      />
      <NativeSelect
        aria-label="Status"
        data={STATUSES}
        value={status}
        onChange={({ currentTarget: { value } }) =>
          onChange({ status: value === 'active' || value === 'disabled' ? value : undefined })
        }
      />
      <Select
        aria-label="Service"
        placeholder="Any service"
        data={services.map(({ id, name }) => ({ value: id, label: name }))}
        value={service ?? null}
        onChange={(value) => onChange({ service: value ?? undefined })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Any service' }}
        limit={50}
        nothingFoundMessage="No such service"
      />
    </Group>
  );
}
