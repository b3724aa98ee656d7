import { ROUTE_FORM, plainText, type FormField } from '@gateway/client/form-fields';
import { Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import { X } from 'lucide-react';
import { ListField, TextField } from '../../ui/form/fields.tsx';
import { useField } from '../../ui/form/form-context.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { FieldError } from './field-error.tsx';
import { ObjectRows } from './object-rows.tsx';
import { rowLabel } from './row-label.tsx';

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
          <IconButton icon={X} size={28} label={`Remove way ${number}`} onClick={onRemove} />
        </Group>
        <FieldError text={error} />
        <ListField
          path={`${path}.hosts`}
          label={fieldOf('hosts').label}
          description={plainText(fieldOf('hosts').help)}
          separator="comma"
        />
        <ObjectRows
          path={`${path}.paths`}
          field={fieldOf('paths')}
          one="path"
          empty={{ prefix: '' }}
          columns="120px minmax(0, 1fr)"
        >
          {(row, ordinal) => <PathFields path={row} number={ordinal} />}
        </ObjectRows>
        <ObjectRows
          path={`${path}.headers`}
          field={fieldOf('headers')}
          one="header"
          empty={{ name: '', value: '' }}
        >
          {(row, ordinal) => (
            <>
              <TextField path={`${row}.name`} label={rowLabel('Name', ` of header ${ordinal}`)} />
              <TextField path={`${row}.value`} label={rowLabel('Value', ` of header ${ordinal}`)} />
            </>
          )}
        </ObjectRows>
      </Stack>
    </Paper>
  );
}

function fieldOf(name: string): FormField {
  const field = ROUTE_FORM['match']?.fields[name];
  if (field === undefined) throw new Error(`The API has no field match.${name}.`);
  return field;
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
        label={rowLabel('Path', ` ${number}`)}
        data-path={path}
        data={PATH_KINDS}
        value={kind}
        onChange={({ currentTarget }) => set({ [currentTarget.value]: text.value })}
        error={error}
      />
      <TextField path={`${path}.${kind}`} label={rowLabel('Text', ` of path ${number}`)} />
    </>
  );
}
