import { plainText, type FormField } from '@gateway/client/form-fields';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useField } from '../../ui/form/form-context.ts';
import { FieldError } from './field-error.tsx';

interface ObjectRowsProps {
  readonly path: string;
  /** The list in the API. */
  readonly field: FormField;
  /** What a row is. */
  readonly one: string;
  /** A new row. */
  readonly empty: object;
  readonly children: (path: string, number: number) => ReactNode;
}

/** A list of objects, one in each row. */
export function ObjectRows({ path, field, one, empty, children }: ObjectRowsProps) {
  const { value, error, set } = useField(path);
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  const { label, help } = field;
  return (
    <Stack gap={6} role="group" aria-label={label}>
      <div>
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <Text size="xs" c="dimmed">
          {plainText(help)}
        </Text>
      </div>
      {rows.map((_row, at) => (
        <Group key={at} gap="sm" align="flex-start" wrap="nowrap">
          <Group gap="sm" align="flex-start" flex={1} grow>
            {children(`${path}.${at}`, at + 1)}
          </Group>
          <Button
            variant="default"
            mt={25}
            onClick={() => set(rows.filter((_one, index) => index !== at))}
            aria-label={`Remove ${one} ${at + 1}`}
          >
            ×
          </Button>
        </Group>
      ))}
      <FieldError text={error} />
      <Button variant="default" size="xs" w="max-content" onClick={() => set([...rows, empty])}>
        Add a {one}
      </Button>
    </Stack>
  );
}
