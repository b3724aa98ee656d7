import { Combobox, Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { useNamesOfTokens } from '../../../api/token-names.ts';
import { FacetFrame, useFacet } from '../../../ui/facets/facet-frame.tsx';
import { FacetList } from '../../../ui/facets/facet-list.tsx';
import { localTime } from '../../../ui/time-text.ts';
import { visibleText } from '../../../ui/visible-text.ts';
import { facetQuery } from '../counts-query.ts';
import { withRequestFilters, type RequestsSearch } from '../requests-search.ts';
import classes from './facet-field.module.css';
import { facetOptions } from './facet-options.ts';
import { facetChange, facetText, facetValue, type Facet } from './facets.ts';

interface FacetFieldProps {
  readonly facet: Facet;
  readonly environment: string;
  readonly search: RequestsSearch;
  /** Whether the API refuses the value. */
  readonly invalid: boolean;
  readonly tokenName: (id: string) => string;
  /** undefined: the filter is removed. */
  readonly onChange: (value: string | undefined) => void;
}

/** A filter whose list has the values that there are, with their counts, and takes any other that is typed. */
export function FacetField(props: FacetFieldProps) {
  const { facet, search, invalid, tokenName, onChange } = props;
  const value = facetValue(search, facet.name);
  const state = useFacet();
  const { typed } = state;
  // Enter takes what fits best.
  const { selectFirstOption } = state.combobox;
  const selectFirst = useCallback(() => {
    if (typed.trim() !== '') selectFirstOption();
  }, [typed, selectFirstOption]);
  return (
    <FacetFrame
      label={facet.label}
      chosen={value === undefined ? undefined : visibleText(facetText(facet, value, tokenName))}
      isInvalid={invalid}
      facet={state}
      search={{ label: `Filter by ${facet.label.toLowerCase()}`, placeholder: facet.hint }}
      width={320}
      onChoose={onChange}
      onRemove={() => onChange(undefined)}
    >
      <Options {...props} typed={typed} onListed={selectFirst} />
    </FacetFrame>
  );
}

interface OptionsProps extends FacetFieldProps {
  readonly typed: string;
  /** Called when other options are shown. */
  readonly onListed: () => void;
}

/** The values that the other filters leave. */
function Options({ facet, environment, search, typed, onListed }: OptionsProps) {
  const others = withRequestFilters(search, facetChange(facet.name, undefined));
  const query = useQuery({
    ...facetQuery(environment, others, facet.by ?? 'route'),
    enabled: facet.by !== undefined,
  });
  const values = query.data?.values ?? [];
  const nameOf = useNamesOfTokens(facet.name === 'token' ? values.map((one) => one.value) : []);
  const options = facetOptions(facet, values, typed.trim(), nameOf);
  const first = options[0]?.value;
  useEffect(() => onListed(), [typed, first, onListed]);
  const countedFrom = query.data?.countedFrom;
  return (
    <>
      <FacetList label={facet.label}>
        {query.isLoading && (
          <Combobox.Empty>
            <Loader size={16} />
          </Combobox.Empty>
        )}
        {options.map(({ value, label, count }) => (
          <Combobox.Option key={value} value={value} className={classes.option ?? ''}>
            <span>{visibleText(label)}</span>
            {count !== undefined && (
              <span className={classes.count}>{count.toLocaleString('en')}</span>
            )}
          </Combobox.Option>
        ))}
        {!query.isLoading && options.length === 0 && (
          <Combobox.Empty>No request of this period has one.</Combobox.Empty>
        )}
      </FacetList>
      {countedFrom !== undefined && (
        <Combobox.Footer className={classes.note ?? ''}>
          Counted since {localTime(countedFrom)}, the newest ones
        </Combobox.Footer>
      )}
    </>
  );
}
