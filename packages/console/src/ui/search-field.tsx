import { Kbd, TextInput, type TextInputProps } from '@mantine/core';

/** The search of a page. The key `/` focuses it. */
export function SearchField(props: TextInputProps) {
  return (
    <TextInput
      type="search"
      data-search
      rightSection={<Kbd size="xs">/</Kbd>}
      rightSectionPointerEvents="none"
      autoComplete="off"
      spellCheck={false}
      {...props}
    />
  );
}
