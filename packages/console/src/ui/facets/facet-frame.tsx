import { Combobox, useCombobox, type ComboboxStore } from '@mantine/core';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import classes from './facet.module.css';

/** The state of a filter's list: whether it is open, and what is searched in it. */
export interface FacetState {
  readonly combobox: ComboboxStore;
  readonly typed: string;
  readonly type: (text: string) => void;
}

/** @param onClosed is called when the list is closed, and its search is forgotten */
export function useFacet(onClosed?: () => void): FacetState {
  const [typed, setTyped] = useState('');
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => {
      setTyped('');
      combobox.resetSelectedOption();
      combobox.focusTarget();
      onClosed?.();
    },
  });
  const type = (text: string): void => {
    setTyped(text);
    combobox.resetSelectedOption();
  };
  return { combobox, typed, type };
}

interface FacetFrameProps {
  /** What is filtered by, such as `Status`. */
  readonly label: string;
  /** What is chosen, as it is shown; undefined: there is no filter. */
  readonly chosen: string | undefined;
  readonly isInvalid?: boolean;
  readonly facet: FacetState;
  /** The field above the options; undefined: there is none. */
  readonly search?: { readonly label: string; readonly placeholder: string } | undefined;
  readonly width: number;
  readonly onChoose: (value: string) => void;
  readonly onRemove: () => void;
  /** The options. */
  readonly children: ReactNode;
}

/** A filter: a button that says what is chosen, one that removes it, and a list below them. */
export function FacetFrame(props: FacetFrameProps) {
  const { label, chosen, isInvalid = false, facet, search, width, children } = props;
  const { combobox, typed, type } = facet;
  const hasSearch = search !== undefined;
  return (
    <Combobox
      store={combobox}
      width={width}
      position="bottom-start"
      // Within the page, whose landmark it then is part of.
      withinPortal={false}
      onOptionSubmit={(option) => {
        props.onChoose(option);
        combobox.closeDropdown();
      }}
    >
      <span className={classes.facet} data-chosen={chosen !== undefined || undefined}>
        {/* With a search, that one has the keys and says what is selected. */}
        <Combobox.Target
          targetType="button"
          withAriaAttributes={!hasSearch}
          withKeyboardNavigation={!hasSearch}
        >
          <button
            type="button"
            className={classes.button}
            data-invalid={isInvalid || undefined}
            {...(hasSearch && {
              'aria-haspopup': 'listbox' as const,
              'aria-expanded': combobox.dropdownOpened,
            })}
            onClick={() => combobox.toggleDropdown()}
          >
            {label}
            {chosen !== undefined && <span className={classes.value}>{chosen}</span>}
          </button>
        </Combobox.Target>
        {chosen !== undefined && (
          <button
            type="button"
            className={classes.remove}
            aria-label={`Remove the filter ${label}`}
            onClick={props.onRemove}
          >
            <X size={14} aria-hidden />
          </button>
        )}
      </span>
      <Combobox.Dropdown>
        {search !== undefined && (
          <Combobox.Search
            aria-label={search.label}
            placeholder={search.placeholder}
            maxLength={2048}
            value={typed}
            onChange={({ currentTarget: { value } }) => type(value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') combobox.closeDropdown();
            }}
          />
        )}
        {combobox.dropdownOpened && children}
      </Combobox.Dropdown>
    </Combobox>
  );
}
