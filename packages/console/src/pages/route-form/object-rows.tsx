import { plainText, type FormField } from '@gateway/client/form-fields';
import { Button, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useField } from '../../ui/form/form-context.ts';
import { FormRow, FormRows } from '../../ui/form/form-row.tsx';
import { FieldError } from './field-error.tsx';

interface ObjectRowsProps {
  readonly path: string;
  /** The list in the API. */
  readonly field: FormField;
  /** What a row is, in lower case. A row has two fields. */
  readonly one: string;
  /** A new row. */
  readonly empty: object;
  /** Of its fields where there is room, as CSS has them. */
  readonly columns?: string;
  readonly children: (path: string, number: number) => ReactNode;
}

/** A list of objects, one in each row. */
export function ObjectRows({
  path,
  field,
  one,
  empty,
  columns = 'minmax(0, 1fr) minmax(0, 1fr)',
  children,
}: ObjectRowsProps) {
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
      <FormRows count={rows.length} columns={columns}>
        {rows.map((_row, at) => (
          <FormRow
            key={at}
            name={`${one} ${at + 1}`}
            path={`${path}.${at}`}
            isPair
            onRemove={() => set(rows.filter((_one, index) => index !== at))}
          >
            {children(`${path}.${at}`, at + 1)}
          </FormRow>
        ))}
      </FormRows>
      <FieldError text={error} />
      <Button variant="default" size="xs" w="max-content" onClick={() => set([...rows, empty])}>
        Add a {one}
      </Button>
    </Stack>
  );
}
