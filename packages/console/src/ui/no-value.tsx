import { Text } from '@mantine/core';

/** Stands where there is no value, as quiet on every page. */
export function NoValue() {
  return (
    <Text span inherit c="dimmed">
      –
    </Text>
  );
}
