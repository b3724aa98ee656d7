import { Combobox } from '@mantine/core';
import { FacetFrame, useFacet } from './facet-frame.tsx';
import { FacetList } from './facet-list.tsx';

/** A value of a filter, and what people call it. */
export interface FacetChoice {
  readonly value: string;
  readonly label: string;
}

interface FacetProps {
  /** What is filtered by, such as `Status`. */
  readonly label: string;
  readonly choices: readonly FacetChoice[];
  /** undefined: there is no filter. */
  readonly value: string | undefined;
  /** What the value is called if it is not among the choices. */
  readonly valueLabel?: string;
  readonly onChange: (value: string | undefined) => void;
  /** Shows a search field. With `onSearch` the choices are those that match, else they are filtered here. */
  readonly isSearchable?: boolean;
  readonly onSearch?: (text: string) => void;
}

const MAX_SHOWN = 50;

/** A filter of a list that has a few values, or whose values are searched by their names. */
export function Facet(props: FacetProps) {
  const { label, choices, value, valueLabel, onChange, isSearchable = false, onSearch } = props;
  const state = useFacet(() => onSearch?.(''));
  const facet = {
    ...state,
    type: (text: string) => {
      state.type(text);
      onSearch?.(text);
    },
  };
  const needle = state.typed.trim().toLowerCase();
  const isHere = isSearchable && onSearch === undefined && needle !== '';
  const shown = isHere
    ? choices.filter((one) => one.label.toLowerCase().includes(needle))
    : choices;
  return (
    <FacetFrame
      label={label}
      chosen={value === undefined ? undefined : nameOf(value, choices, valueLabel)}
      facet={facet}
      search={isSearchable ? { label: `Search ${label}`, placeholder: 'Search' } : undefined}
      width={isSearchable ? 260 : 200}
      onChoose={onChange}
      onRemove={() => onChange(undefined)}
    >
      <FacetList label={label}>
        {shown.slice(0, MAX_SHOWN).map((one) => (
          <Combobox.Option key={one.value} value={one.value} active={one.value === value}>
            {one.label}
          </Combobox.Option>
        ))}
        {shown.length === 0 && <Combobox.Empty>Nothing matches</Combobox.Empty>}
        {shown.length > MAX_SHOWN && (
          <Combobox.Empty>
            and {(shown.length - MAX_SHOWN).toLocaleString('en')} more
          </Combobox.Empty>
        )}
      </FacetList>
    </FacetFrame>
  );
}

function nameOf(value: string, choices: readonly FacetChoice[], label: string | undefined): string {
  return choices.find((one) => one.value === value)?.label ?? label ?? value;
}
