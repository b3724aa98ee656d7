import { ROUTE_FORM, plainText, type FormField } from '@gateway/client/form-fields';
import { Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { ListField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { FieldError } from './field-error.tsx';

const PATH_KINDS = [
  { value: 'prefix', label: 'Begins with' },
  { value: 'exact', label: 'Is' },
];

interface WayFieldsProps {
  readonly index: number;
  readonly onRemove: () => void;
}

/** One way to a route: a request has one of the hosts, one of the paths and all headers. */
export function WayFields({ index, onRemove }: WayFieldsProps) {
  const path = `match.${index}`;
  const { error } = useField(path);
  const number = index + 1;
  return (
    <Paper withBorder p="sm" role="group" aria-label={`Way ${number}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            Way {number}
          </Text>
          <Button
            variant="default"
            size="compact-sm"
            onClick={onRemove}
            aria-label={`Remove way ${number}`}
          >
            ×
          </Button>
        </Group>
        <FieldError text={error} />
        <ListField
          path={`${path}.hosts`}
          label={fieldOf('hosts').label}
          description={plainText(fieldOf('hosts').help)}
          separator="comma"
        />
        <Rows path={`${path}.paths`} name="paths" one="path" empty={{ prefix: '' }}>
          {(row, ordinal) => <PathFields path={row} number={ordinal} />}
        </Rows>
        <Rows path={`${path}.headers`} name="headers" one="header" empty={{ name: '', value: '' }}>
          {(row, ordinal) => (
            <>
              <TextField path={`${row}.name`} label={`Name of header ${ordinal}`} />
              <TextField path={`${row}.value`} label={`Value of header ${ordinal}`} />
            </>
          )}
        </Rows>
      </Stack>
    </Paper>
  );
}

function fieldOf(name: string): FormField {
  const field = ROUTE_FORM['match']?.fields[name];
  if (field === undefined) throw new Error(`The API has no field match.${name}.`);
  return field;
}

interface RowsProps {
  readonly path: string;
  /** Of the list in the API. */
  readonly name: string;
  /** What a row is. */
  readonly one: string;
  /** A new row. */
  readonly empty: object;
  readonly children: (path: string, number: number) => ReactNode;
}

/** A list of objects, one in each row. */
function Rows({ path, name, one, empty, children }: RowsProps) {
  const { value, error, set } = useField(path);
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  const { label, help } = fieldOf(name);
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

/** A path that is compared as a whole, or by its first segments. */
function PathFields({ path, number }: { readonly path: string; readonly number: number }) {
  const { value, error, set } = useField(path);
  const given = typeof value === 'object' && value !== null ? value : {};
  const kind = 'exact' in given ? 'exact' : 'prefix';
  const text = useField(`${path}.${kind}`);
  return (
    <>
      <NativeSelect
        label={`Path ${number}`}
        data={PATH_KINDS}
        value={kind}
        onChange={({ currentTarget }) => set({ [currentTarget.value]: text.value })}
        error={error}
      />
      <TextField path={`${path}.${kind}`} label={`Text of path ${number}`} />
    </>
  );
}
