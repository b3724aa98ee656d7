import { Checkbox, Input, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useField } from '../../ui/form/form-context.ts';
import { PRESETS, presetOf } from './presets.ts';
import { MATRIX } from './scope-matrix.ts';
import classes from './tokens.module.css';

const CUSTOM = 'custom';
const CHOICES = [
  ...PRESETS.map(({ value, label }) => ({ value, label })),
  { value: CUSTOM, label: 'Custom' },
];
const COLUMNS = ['call', 'read', 'write'] as const;
const NAMES = { call: 'Call', read: 'Read', write: 'Write' } as const;

/** What a token may do: a preset, and each resource by reading and writing. */
export function ScopesField() {
  const { value, errorWithin, set } = useField('scopes');
  const routes = useField('routes');
  const scopes = Array.isArray(value) ? value.map(String) : [];
  const hasAll = scopes.includes('*');
  const preset = presetOf(scopes);

  function choose(chosen: string): void {
    const found = PRESETS.find((one) => one.value === chosen);
    if (found === undefined) return;
    set([...found.scopes]);
    // An admin of some routes can neither roll back nor apply.
    if (chosen === 'admin') routes.set(['*']);
  }

  return (
    <Input.Wrapper data-path="scopes" label="What it may do" error={errorWithin} labelElement="div">
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label="Kind of token"
          data={CHOICES.map((one) => ({
            ...one,
            disabled: one.value === CUSTOM && preset !== undefined,
          }))}
          value={preset?.value ?? CUSTOM}
          onChange={choose}
          fullWidth
        />
        <Text c="dimmed" size="xs">
          {preset?.purpose ?? 'What is checked below.'}
        </Text>
        <Table className={classes.matrix ?? ''} aria-label="Scopes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Resource</Table.Th>
              {COLUMNS.map((column) => (
                <Table.Th key={column} ta="center">
                  {NAMES[column]}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {MATRIX.map((row) => (
              <Table.Tr key={row.label}>
                <Table.Th scope="row">
                  {row.label}{' '}
                  {row.note !== undefined && (
                    <Text span c="dimmed" size="xs" fw={400}>
                      {row.note}
                    </Text>
                  )}
                </Table.Th>
                {COLUMNS.map((column) => (
                  <Table.Td key={column} ta="center">
                    <ScopeBox scope={row[column]} scopes={scopes} isAll={hasAll} onChange={set} />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Stack>
    </Input.Wrapper>
  );
}

interface ScopeBoxProps {
  readonly scope: string | undefined;
  readonly scopes: readonly string[];
  readonly isAll: boolean;
  readonly onChange: (scopes: readonly string[]) => void;
}

function ScopeBox({ scope, scopes, isAll, onChange }: ScopeBoxProps) {
  if (scope === undefined) return null;
  return (
    <Checkbox
      aria-label={scope}
      checked={isAll || scopes.includes(scope)}
      disabled={isAll}
      className={classes.box ?? ''}
      onChange={({ currentTarget: { checked } }) =>
        onChange(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
      }
    />
  );
}
