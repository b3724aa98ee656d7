import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import { use } from 'react';
import { RelativeTime } from '../relative-time.tsx';
import { visibleText } from '../visible-text.ts';
import type { Difference } from './draft.ts';
import { fieldLabel } from './field-labels.ts';
import { FormDefinition } from './form-definition.ts';
import type { LastChange } from './last-change.ts';
import { shownValue } from './shown-value.ts';

interface ChangedMeanwhileProps {
  /** What somebody else changed, from what the reader saw to what it is now. */
  readonly theirs: readonly Difference[];
  /** What the reader changed, from what it is now to what is in the form. */
  readonly mine: readonly Difference[];
  /** The paths whose own values are not shown. */
  readonly secret: readonly string[];
  /** undefined: it is not known. */
  readonly change: LastChange | undefined;
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** After 412: what changed since the reader opened the form, and what becomes of the reader's own changes. */
export function ChangedMeanwhile(props: ChangedMeanwhileProps) {
  const { theirs, mine, secret, change, onKeep, onDiscard } = props;
  const form = use(FormDefinition);
  const own = new Map(mine.map((one) => [one.path, one.after]));
  const isSecret = (path: string) =>
    secret.some((one) => path === one || path.startsWith(`${one}.`));
  const ownText = (path: string) =>
    isSecret(path) ? 'the value in the form' : shownValue(path, own.get(path), form);
  return (
    <Alert
      color="yellow"
      role="alert"
      title={
        <>
          {visibleText(change?.by ?? 'Somebody')} changed this{' '}
          {change === undefined ? 'meanwhile' : <RelativeTime at={change.at} />}
        </>
      }
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          {theirs.length === 0
            ? 'There is a new revision with the same values. Nothing was saved.'
            : 'Nothing was saved. These fields are not as they were when you opened the form:'}
        </Text>
        {theirs.length > 0 && (
          <Table layout="fixed" aria-label="Changed meanwhile" bg="transparent">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Field</Table.Th>
                <Table.Th>Before</Table.Th>
                <Table.Th>Now</Table.Th>
                <Table.Th>Yours</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {theirs.map(({ path, before, after }) => (
                <Table.Tr key={path}>
                  <Table.Td>{fieldLabel(path, form)}</Table.Td>
                  <Table.Td>{shownValue(path, before, form)}</Table.Td>
                  <Table.Td>{shownValue(path, after, form)}</Table.Td>
                  <Table.Td>{own.has(path) ? ownText(path) : 'as now'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        <Group gap="sm">
          <Button size="xs" onClick={onKeep}>
            Keep my changes
          </Button>
          <Button size="xs" variant="default" onClick={onDiscard}>
            Discard my changes
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
