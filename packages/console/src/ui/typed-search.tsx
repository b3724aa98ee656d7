import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { SearchField } from './search-field.tsx';

interface TypedSearchProps {
  /** What the field is for, such as `Search routes`. */
  readonly label: string;
  readonly maxLength?: number;
  /** What is searched for, as the URL says. */
  readonly search: string;
  /** A moment after the last key. */
  readonly onSearch: (search: string) => void;
}

const TYPING_MS = 200;

/** A search that runs while the reader types. It follows the URL, for the button back and for links. */
export function TypedSearch({ label, maxLength, search, onSearch }: TypedSearchProps) {
  const [typed, setTyped] = useState(search);
  const [shown, setShown] = useState(search);
  const [sent, setSent] = useState(search);
  if (search !== shown) {
    setShown(search);
    // What was typed meanwhile stays.
    if (search !== sent) setTyped(search);
  }
  const send = useDebouncedCallback((text: string) => {
    setSent(text);
    onSearch(text);
  }, TYPING_MS);
  return (
    <SearchField
      aria-label={label}
      placeholder={label}
      {...(maxLength === undefined ? {} : { maxLength })}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        send(value.trim());
      }}
    />
  );
}
