import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useNamesOfTokens } from '../../../api/token-names.ts';
import { FacetBar, FacetToggle } from '../../../ui/facets/facet-bar.tsx';
import { hasFilters, type FilterChange, type RequestsSearch } from '../requests-search.ts';
import { FacetField } from './facet-field.tsx';
import { facetChange, FACETS, type FacetName } from './facets.ts';
import { refusedFacets } from './refused-facets.ts';
import classes from './request-filters.module.css';

interface RequestFiltersProps {
  readonly environment: string;
  readonly search: RequestsSearch;
  /** Why the list could not be read. */
  readonly error: unknown;
  readonly onChange: (change: FilterChange) => void;
  readonly onClear: () => void;
}

const SLOW_MS = 1000;
/** Those that a phone shows at first. */
const USUAL: ReadonlySet<FacetName> = new Set(['route', 'status']);
/** Those that only a large window shows at first, because all of them take a second line beside chosen ones. */
const RARE: ReadonlySet<FacetName> = new Set(['grpc', 'slower', 'kind']);

/** The filters, those that are used most as switches. What the API refuses is said once, below. */
export function RequestFilters(props: RequestFiltersProps) {
  const { environment, search, error, onChange, onClear } = props;
  const tokenName = useNamesOfTokens([search.token ?? null]);
  const refused = refusedFacets(error);
  const [isAll, setAll] = useState(false);
  const hiddenOn = (name: FacetName, { [name]: value }: RequestsSearch) =>
    isAll || value !== undefined || USUAL.has(name)
      ? undefined
      : RARE.has(name)
        ? 'laptop'
        : 'phone';
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
          <span
            key={facet.name}
            className={classes.facet}
            data-hidden={hiddenOn(facet.name, search)}
          >
            <FacetField
              facet={facet}
              environment={environment}
              search={search}
              invalid={refused.some(({ name }) => name === facet.name)}
              tokenName={tokenName}
              onChange={(value) => onChange(facetChange(facet.name, value))}
            />
          </span>
        ))}
        {!isAll && (
          <Button
            className={classes.more ?? ''}
            variant="subtle"
            color="gray"
            px={8}
            onClick={() => setAll(true)}
          >
            More filters
          </Button>
        )}
      </FacetBar>
      {refused.map(({ name, text }) => (
        <Text key={name} size="sm" c="var(--bad)" role="alert">
          {text}
        </Text>
      ))}
    </>
  );
}
