import { Button, Combobox, ScrollArea, useCombobox } from '@mantine/core';
import { ChevronDown, X } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../icon-button.tsx';
import classes from './facet.module.css';

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

/** A filter of a list: a button that says what is chosen, and the choices below it. */
export function Facet(props: FacetProps) {
  const { label, choices, value, valueLabel, onChange, isSearchable = false, onSearch } = props;
  const [search, setSearch] = useState('');
  const combobox = useCombobox({
    onDropdownOpen: () => {
      if (isSearchable) combobox.focusSearchInput();
    },
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      combobox.focusTarget();
      setSearch('');
      onSearch?.('');
    },
  });
  const chosen = value === undefined ? undefined : nameOf(value, choices, valueLabel);
  const needle = search.trim().toLowerCase();
  const isHere = isSearchable && onSearch === undefined && needle !== '';
  const shown = isHere
    ? choices.filter((one) => one.label.toLowerCase().includes(needle))
    : choices;
  return (
    <Combobox
      store={combobox}
      width={isSearchable ? 260 : 200}
      position="bottom-start"
      withinPortal={false}
      onOptionSubmit={(option) => {
        onChange(option);
        combobox.closeDropdown();
      }}
    >
      <span className={classes.facet} data-chosen={value !== undefined || undefined}>
        <Combobox.Target targetType="button">
          <Button
            variant="default"
            className={classes.button ?? ''}
            rightSection={
              value === undefined && <ChevronDown size={14} strokeWidth={1.75} aria-hidden />
            }
            onClick={() => combobox.toggleDropdown()}
          >
            <span className={classes.label}>{label}</span>
            {chosen !== undefined && <span className={classes.value}>{chosen}</span>}
          </Button>
        </Combobox.Target>
        {value !== undefined && (
          <IconButton
            icon={X}
            label={`Remove the filter ${label}`}
            className={classes.remove ?? ''}
            onClick={() => onChange(undefined)}
          />
        )}
      </span>
      <Combobox.Dropdown>
        {isSearchable && (
          <Combobox.Search
            value={search}
            aria-label={`Search ${label}`}
            placeholder="Search"
            onChange={({ currentTarget: { value: text } }) => {
              setSearch(text);
              onSearch?.(text);
              combobox.updateSelectedOptionIndex();
            }}
          />
        )}
        <Combobox.Options aria-label={label}>
          <ScrollArea.Autosize mah={280} type="scroll">
            {shown.slice(0, MAX_SHOWN).map((one) => (
              <Combobox.Option key={one.value} value={one.value} active={one.value === value}>
                {one.label}
              </Combobox.Option>
            ))}
            {shown.length === 0 && <Combobox.Empty>Nothing matches</Combobox.Empty>}
            {shown.length > MAX_SHOWN && (
              <Combobox.Empty>
                and {(shown.length - MAX_SHOWN).toLocaleString()} more
              </Combobox.Empty>
            )}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function nameOf(value: string, choices: readonly FacetChoice[], label: string | undefined): string {
  return choices.find((one) => one.value === value)?.label ?? label ?? value;
}
