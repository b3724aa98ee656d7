import { Text } from '@mantine/core';

/** What the API says of a list or an object as a whole. */
export function FieldError({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="status">
      {text}
    </Text>
  );
}
