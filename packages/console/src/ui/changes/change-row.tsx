import { Box, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId, type ReactNode } from 'react';
import type { AuditEvent } from '../../api/client.ts';
import { ResourceDiff } from '../diff/resource-diff.tsx';
import { RevertButton } from '../diff/revert-button.tsx';
import { CopyChip } from '../copy-chip.tsx';
import { FoldButton } from '../fold-button.tsx';
import { RelativeTime } from '../relative-time.tsx';
import { ROW_ATTRIBUTE } from '../row-link.ts';
import { actionText, resourceName } from './event-text.ts';
import { InlineChange } from './inline-change.tsx';
import classes from './changes.module.css';

interface ChangeRowProps {
  readonly event: AuditEvent;
  readonly person: ReactNode;
  /** undefined: the table is of one resource. */
  readonly resource: ReactNode;
  readonly columns: number;
  /** Whether the resource was not changed again since. */
  readonly isLast: boolean;
  readonly isOpenAtFirst: boolean;
}

/** A change. Opened, it shows each field that differs, and the call that made it. */
export function ChangeRow(props: ChangeRowProps) {
  const { event, person, resource, columns, isLast, isOpenAtFirst } = props;
  const [isOpen, details] = useDisclosure(isOpenAtFirst);
  const id = useId();
  const { before, after, client_ip: address, request_id: request, resource_type: type } = event;
  return (
    <>
      <Table.Tr
        className={classes.row ?? ''}
        {...{ [ROW_ATTRIBUTE]: '' }}
        data-open={isOpen || undefined}
        aria-label={`${type} ${resourceName(event)} ${actionText(event)}`}
      >
        <Table.Td className={classes.when ?? ''} visibleFrom="sm">
          <RelativeTime at={event.occurred_at} />
        </Table.Td>
        <Table.Td className={classes.short ?? ''} visibleFrom="sm">
          {person}
        </Table.Td>
        {resource !== undefined && (
          <Table.Td className={classes.short ?? ''} visibleFrom="sm">
            {resource}
          </Table.Td>
        )}
        <Table.Td className={classes.change ?? ''}>
          <Box className={classes.meta ?? ''} hiddenFrom="sm">
            <RelativeTime at={event.occurred_at} />, {person}
            {resource !== undefined && <>, {resource}</>}
          </Box>
          <FoldButton
            isOpen={isOpen}
            onToggle={details.toggle}
            controls={id}
            className={classes.toggle}
            opensRow
          >
            <span>
              <Text span inherit>
                {actionText(event)}
              </Text>{' '}
              <InlineChange before={before} after={after} />
            </span>
          </FoldButton>
        </Table.Td>
        <Table.Td ta="right">{isLast && <RevertButton change={event} />}</Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr className={classes.detail ?? ''} id={id}>
          <Table.Td colSpan={columns}>
            <ResourceDiff before={before} after={after} />
            {request !== null && (
              <Text className={classes.meta ?? ''} mt="xs">
                Call <CopyChip text={request} what="the id of the call" isPlain />
                {address !== null && ` from ${address}`}
              </Text>
            )}
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}
