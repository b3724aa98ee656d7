import { FacetBar } from '../../ui/facets/facet-bar.tsx';
import { Facet } from '../../ui/facets/facet.tsx';
import { TypedSearch } from '../../ui/typed-search.tsx';
import { TOKEN_STATES } from '@gateway/shared/tokens/token-states';
import { STATE_NAMES } from './state-names.ts';
import { hasFilters, type TokenFilter, type TokensSearch } from './tokens-search.ts';

interface TokenFiltersProps {
  readonly search: TokensSearch;
  readonly environments: readonly string[];
  readonly onChange: (change: TokenFilter) => void;
}

const STATES = TOKEN_STATES.map((value) => ({ value, label: STATE_NAMES[value] }));

/** The search and the filters above the list of tokens. */
export function TokenFilters({ search, environments, onChange }: TokenFiltersProps) {
  const { search: text = '', state, of } = search;
  const none = { search: undefined, state: undefined, of: undefined };
  return (
    <FacetBar onClear={hasFilters(search) ? () => onChange(none) : undefined}>
      <TypedSearch
        label="Search tokens"
        maxLength={63}
        search={text}
        onSearch={(typed) => onChange({ search: typed === '' ? undefined : typed })}
      />
      <Facet
        label="State"
        choices={STATES}
        value={state}
        onChange={(value) => onChange({ state: TOKEN_STATES.find((one) => one === value) })}
      />
      <Facet
        label="Environment"
        choices={environments.map((name) => ({ value: name, label: name }))}
        value={of}
        onChange={(value) => onChange({ of: value })}
        isSearchable={environments.length > 10}
      />
    </FacetBar>
  );
}
