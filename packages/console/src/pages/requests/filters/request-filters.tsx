import { Text } from '@mantine/core';
import { useTokenName } from '../../../api/token-names.ts';
import { FacetBar, FacetToggle } from '../../../ui/facets/facet-bar.tsx';
import { hasFilters, type FilterChange, type RequestsSearch } from '../requests-search.ts';
import { FacetField } from './facet-field.tsx';
import { facetChange, FACETS } from './facets.ts';
import { refusedFacets } from './refused-facets.ts';

interface RequestFiltersProps {
  readonly environment: string;
  readonly search: RequestsSearch;
  /** Why the list could not be read. */
  readonly error: unknown;
  readonly onChange: (change: FilterChange) => void;
  readonly onClear: () => void;
}

const SLOW_MS = 1000;

/** The filters, those that are used most as switches. What the API refuses is said once, below. */
export function RequestFilters(props: RequestFiltersProps) {
  const { environment, search, error, onChange, onClear } = props;
  const tokenName = useTokenName();
  const refused = refusedFacets(error);
  return (
    <>
      <FacetBar onClear={hasFilters(search) ? onClear : undefined}>
        <FacetToggle
          label="Failed"
          isOn={search.failed === true}
          onChange={(isOn) => onChange({ failed: isOn ? true : undefined })}
        />
        <FacetToggle
          label="Slow"
          title="Took at least 1 s"
          isOn={search.slower === SLOW_MS}
          onChange={(isOn) => onChange({ slower: isOn ? SLOW_MS : undefined })}
        />
        {FACETS.map((facet) => (
          <FacetField
            key={facet.name}
            facet={facet}
            environment={environment}
            search={search}
            invalid={refused.some(({ name }) => name === facet.name)}
            tokenName={tokenName}
            onChange={(value) => onChange(facetChange(facet.name, value))}
          />
        ))}
      </FacetBar>
      {refused.map(({ name, text }) => (
        <Text key={name} size="sm" c="var(--bad)" role="alert">
          {text}
        </Text>
      ))}
    </>
  );
}
