import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useField } from '../../ui/form/form-context.ts';
import { useRowFocus } from '../../ui/form/use-row-focus.ts';
import { FieldError } from './field-error.tsx';
import { WayFields } from './way-fields.tsx';

const NEW_WAY = { hosts: [], paths: [], headers: [] };

/** The ways to a route by host, path and header fields. */
export function MatchFields() {
  const { value, error, set } = useField('match');
  const ways: readonly unknown[] = Array.isArray(value) ? value : [];
  // What is typed as hosts belongs to its way, also when one before it is removed.
  const [keys, setKeys] = useState(() => ways.map((_way, index) => index));

  const list = useRowFocus(keys.length);

  function add(): void {
    set([...ways, NEW_WAY]);
    setKeys([...keys, Math.max(-1, ...keys) + 1]);
  }

  function remove(index: number): void {
    set(ways.filter((_one, at) => at !== index));
    setKeys(keys.filter((_one, at) => at !== index));
  }

  return (
    <Stack gap="sm">
      <Stack ref={list} gap="sm">
        {ways.length === 0 && (
          <Text size="sm" c="dimmed">
            Callers name the route in the path.
          </Text>
        )}
        {keys.map((key, index) => (
          <WayFields key={key} index={index} onRemove={() => remove(index)} />
        ))}
      </Stack>
      <FieldError text={error} />
      <Button variant="default" size="xs" w="max-content" onClick={add}>
        Add hosts and paths
      </Button>
    </Stack>
  );
}
