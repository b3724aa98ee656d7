import { Combobox, Loader, useCombobox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
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

/** A filter: a button that says what is chosen, and a list of the values that there are, with their counts. */
export function FacetField(props: FacetFieldProps) {
  const { facet, search, invalid, tokenName, onChange } = props;
  const value = facetValue(search, facet.name);
  const [typed, setTyped] = useState('');
  const combobox = useCombobox({
    onDropdownClose: () => {
      setTyped('');
      combobox.resetSelectedOption();
      combobox.focusTarget();
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  const choose = (chosen: string): void => {
    onChange(chosen);
    combobox.closeDropdown();
  };
  // Enter takes what fits best.
  const { selectFirstOption } = combobox;
  const selectFirst = useCallback(() => {
    if (typed.trim() !== '') selectFirstOption();
  }, [typed, selectFirstOption]);
  return (
    <div className={classes.facet} data-set={value !== undefined || undefined}>
      <Combobox
        store={combobox}
        width={320}
        position="bottom-start"
        // Within the page, whose landmark it then is part of.
        withinPortal={false}
        onOptionSubmit={choose}
      >
        <Combobox.Target withAriaAttributes={false} withKeyboardNavigation={false}>
          <button
            type="button"
            className={classes.button}
            data-invalid={invalid || undefined}
            aria-haspopup="listbox"
            aria-expanded={combobox.dropdownOpened}
            onClick={() => combobox.toggleDropdown()}
          >
            {facet.label}
            {value !== undefined && (
              <span className={classes.value}>
                {visibleText(facetText(facet, value, tokenName))}
              </span>
            )}
          </button>
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Search
            aria-label={`Filter by ${facet.label.toLowerCase()}`}
            placeholder={facet.hint}
            maxLength={2048}
            value={typed}
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value);
              combobox.resetSelectedOption();
            }}
            onKeyDown={(event) => {
              if (event.key === 'Escape') combobox.closeDropdown();
            }}
          />
          {combobox.dropdownOpened && <Options {...props} typed={typed} onListed={selectFirst} />}
        </Combobox.Dropdown>
      </Combobox>
      {value !== undefined && (
        <button
          type="button"
          className={classes.clear}
          aria-label={`Remove the filter by ${facet.label.toLowerCase()}`}
          onClick={() => onChange(undefined)}
        >
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}

interface OptionsProps extends FacetFieldProps {
  readonly typed: string;
  /** Called when other options are shown. */
  readonly onListed: () => void;
}

/** The values that the other filters leave. */
function Options({ facet, environment, search, tokenName, typed, onListed }: OptionsProps) {
  const others = withRequestFilters(search, facetChange(facet.name, undefined));
  const query = useQuery({
    ...facetQuery(environment, others, facet.by ?? 'route'),
    enabled: facet.by !== undefined,
  });
  const options = facetOptions(facet, query.data?.values ?? [], typed.trim(), tokenName);
  const first = options[0]?.value;
  useEffect(() => onListed(), [typed, first, onListed]);
  const countedFrom = query.data?.countedFrom;
  return (
    <>
      <Combobox.Options mah={280} style={{ overflowY: 'auto' }} aria-label={facet.label}>
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
      </Combobox.Options>
      {countedFrom !== undefined && (
        <Combobox.Footer className={classes.note ?? ''}>
          Counted since {localTime(countedFrom)}, the newest ones
        </Combobox.Footer>
      )}
    </>
  );
}
