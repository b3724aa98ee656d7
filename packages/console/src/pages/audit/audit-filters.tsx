import { FacetBar } from '../../ui/facets/facet-bar.tsx';
import { Facet } from '../../ui/facets/facet.tsx';
import {
  AUDIT_PERIODS,
  hasFilters,
  RESOURCE_TYPES,
  type AuditFilter,
  type AuditSearch,
} from './audit-search.ts';
import { PersonFacet } from './person-facet.tsx';
import { ResourceFacet } from './resource-facet.tsx';

interface AuditFiltersProps {
  readonly environment: string;
  readonly search: AuditSearch;
  readonly nameOf: (tokenId: string) => string;
  /** The name of the chosen resource, if the list shows it. */
  readonly resourceName: string | undefined;
  readonly onChange: (change: AuditFilter) => void;
}

const KINDS = [
  { value: 'route', label: 'Routes' },
  { value: 'service', label: 'Services' },
  { value: 'token', label: 'Tokens' },
  { value: 'environment', label: 'Environments' },
];
const PERIOD_CHOICES = Object.entries(AUDIT_PERIODS).map(([value, { label }]) => ({
  value,
  label,
}));
const NONE = { type: undefined, token: undefined, resource: undefined, period: undefined };

/** Which changes are shown: of whom, of what, and since when. */
export function AuditFilters(props: AuditFiltersProps) {
  const { environment, search, nameOf, resourceName, onChange } = props;
  const { type, token, resource, period } = search;
  return (
    <FacetBar onClear={hasFilters(search) ? () => onChange(NONE) : undefined}>
      <Facet
        label="When"
        choices={PERIOD_CHOICES}
        value={period}
        onChange={(value) => onChange({ period: value as keyof typeof AUDIT_PERIODS | undefined })}
      />
      <PersonFacet token={token} nameOf={nameOf} onChange={onChange} />
      <Facet
        label="Kind"
        choices={KINDS}
        value={type}
        onChange={(value) =>
          onChange({ type: RESOURCE_TYPES.find((one) => one === value), resource: undefined })
        }
      />
      <ResourceFacet
        environment={environment}
        type={type}
        resource={resource}
        name={resourceName}
        onChange={onChange}
      />
    </FacetBar>
  );
}
