import { Anchor, Collapse, Group, Paper, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useId } from 'react';
import type { AuditEvent } from '../../api/client.ts';
import { RevertButton } from '../../ui/diff/revert-button.tsx';
import { ResourceDiff } from '../../ui/diff/resource-diff.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { withFilters } from '../list-search.ts';
import { actionText, changedFieldsText, resourceName } from './event-text.ts';

interface EventCardProps {
  readonly event: AuditEvent;
  readonly nameOf: (tokenId: string) => string;
}

/** A change: who did what, when and from where; and what was before and after. */
export function EventCard({ event, nameOf }: EventCardProps) {
  const [isOpen, details] = useDisclosure(false);
  const id = useId();
  const { resource_type: type, resource_id: resource, token_id: token, before, after } = event;
  const name = resourceName(event);
  return (
    <Paper withBorder p="sm" component="li" aria-label={`${type} ${name} ${actionText(event)}`}>
      <Group justify="space-between" gap="4px 16px">
        <Text size="sm">
          {token === null ? (
            <strong>The gateway</strong>
          ) : (
            <TextLink
              from="/audit"
              to="/audit"
              search={(now) => withFilters(now, { token })}
              inherit
              fw={600}
              title={`Only changes by ${nameOf(token)}`}
            >
              {nameOf(token)}
            </TextLink>
          )}{' '}
          {actionText(event)} {type}{' '}
          <TextLink
            from="/audit"
            to="/audit"
            search={(now) => withFilters(now, { resource })}
            inherit
            fw={600}
            title={`Only changes of ${name}`}
          >
            {name}
          </TextLink>
        </Text>
        <Text size="sm" c="dimmed" component="div">
          <RelativeTime at={event.occurred_at} />
          {event.client_ip !== null && ` from ${event.client_ip}`}
        </Text>
      </Group>
      <Group justify="space-between" gap="4px 16px">
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="start"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={details.toggle}
        >
          {isOpen ? 'Hide' : 'Show'} {changedFieldsText({ before, after })}
        </Anchor>
        <Group gap="4px 16px">
          {event.request_id !== null && (
            <Text size="xs" c="dimmed" ff="monospace">
              {event.request_id}
            </Text>
          )}
          <RevertButton change={event} />
        </Group>
      </Group>
      <Collapse expanded={isOpen} id={id}>
        {isOpen && (
          <div style={{ paddingTop: 8 }}>
            <ResourceDiff before={before} after={after} />
          </div>
        )}
      </Collapse>
    </Paper>
  );
}
