import { Paper, Skeleton, Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditEvent } from '../../api/client.ts';
import { ChangeRow } from './change-row.tsx';
import { lastChanges } from './last-changes.ts';
import classes from './changes.module.css';

interface ChangeTableProps {
  /** Names the table for people who do not see it. */
  readonly label: string;
  /** undefined: they are being loaded. */
  readonly events: readonly AuditEvent[] | undefined;
  /** Names the token of an event. */
  readonly personOf: (tokenId: string) => ReactNode;
  /** Names the resource of an event; absent: all are of one. */
  readonly resourceOf?: (event: AuditEvent) => ReactNode;
  /** The event that is open at first. */
  readonly openId?: string | undefined;
}

const SKELETON_ROWS = 8;
/** Of when, who, what, the change and its button, px. */
const SKELETON_WIDTHS = [72, 48, 96, 220, 0] as const;

/** Changes: when, who and what, with the fields in a line, and all of them when a row is opened. */
export function ChangeTable({ label, events, personOf, resourceOf, openId }: ChangeTableProps) {
  const columns = resourceOf === undefined ? 4 : 5;
  const last = lastChanges(events ?? []);
  return (
    <Paper withBorder>
      <Table aria-label={label} aria-busy={events === undefined}>
        <Table.Thead className={classes.head ?? ''}>
          <Table.Tr>
            <Table.Th w={150} visibleFrom="sm">
              When
            </Table.Th>
            <Table.Th visibleFrom="sm">Who</Table.Th>
            {resourceOf !== undefined && <Table.Th visibleFrom="sm">What</Table.Th>}
            <Table.Th>Change</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {events === undefined
            ? Array.from({ length: SKELETON_ROWS }, (_none, index) => (
                <Table.Tr key={index} className={classes.row ?? ''}>
                  {SKELETON_WIDTHS.slice(-columns).map((width, place) => (
                    <Table.Td key={place} {...(place < columns - 2 && { visibleFrom: 'sm' })}>
                      <Skeleton height={12} mt={6} width={width} />
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))
            : events.map((event) => (
                <ChangeRow
                  key={event.id}
                  event={event}
                  person={event.token_id === null ? 'the gateway' : personOf(event.token_id)}
                  resource={resourceOf?.(event)}
                  columns={columns}
                  isLast={last.has(event.id)}
                  isOpenAtFirst={event.id === openId}
                />
              ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
