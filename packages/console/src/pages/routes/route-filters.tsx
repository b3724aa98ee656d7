import type { NamedService } from '../../api/service-names.ts';
import { FacetBar } from '../../ui/facets/facet-bar.tsx';
import { Facet } from '../../ui/facets/facet.tsx';
import { TypedSearch } from '../../ui/typed-search.tsx';
import { hasFilters, type FilterChange, type RoutesSearch } from './routes-search.ts';

interface RouteFiltersProps {
  readonly filters: RoutesSearch;
  readonly services: readonly NamedService[];
  readonly onChange: (change: FilterChange) => void;
}

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
];

/** The search and the filters above the list. */
export function RouteFilters({ filters, services, onChange }: RouteFiltersProps) {
  const { search = '', status, service } = filters;
  const none = { search: undefined, status: undefined, service: undefined };
  return (
    <FacetBar onClear={hasFilters(filters) ? () => onChange(none) : undefined}>
      <TypedSearch
        label="Search routes"
        maxLength={63}
        search={search}
        onSearch={(text) => onChange({ search: text === '' ? undefined : text })}
      />
      <Facet
        label="Status"
        choices={STATUSES}
        value={status}
        onChange={(value) =>
          onChange({ status: value === 'active' || value === 'disabled' ? value : undefined })
        }
      />
      <Facet
        label="Service"
        choices={services.map(({ id, name }) => ({ value: id, label: name }))}
        value={service}
        onChange={(value) => onChange({ service: value })}
        isSearchable
      />
    </FacetBar>
  );
}
