import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';

interface FilterTextProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** What the list is filtered by, as the URL says. */
  readonly value: string;
  /** With Enter, or when the field is left. */
  readonly onApply: (value: string) => void;
}

/** A filter by a text. It is applied when it is complete, because a search for half of a value finds nothing. */
export function FilterText({ value, onApply, ...props }: FilterTextProps) {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  if (value !== shown) {
    setShown(value);
    setTyped(value);
  }
  const apply = () => {
    if (typed.trim() !== value) onApply(typed.trim());
  };
  return (
    <TextInput
      autoComplete="off"
      spellCheck={false}
      {...props}
      value={typed}
      onChange={({ currentTarget: { value: text } }) => setTyped(text)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
    />
  );
}
