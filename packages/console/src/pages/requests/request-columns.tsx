import { Text } from '@mantine/core';
import type { RequestRecord } from '../../api/client.ts';
import type { Column } from '../../ui/data-table.tsx';
import { msText } from '../../ui/ms-text.ts';
import { LocalTime } from '../../ui/relative-time.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { visibleText } from '../../ui/visible-text.ts';
import { RequestEnd } from './request-end.tsx';

/** The columns of the list. */
export const requestColumns: readonly Column<RequestRecord>[] = [
  {
    key: 'request',
    header: 'Request',
    cell: ({ id, method, path, received_at }) => (
      <>
        <TextLink to="/requests/$id" params={{ id }} size="sm" fw={600} lineClamp={3} maw={420}>
          {method} {path}
        </TextLink>
        <Text size="xs" c="dimmed" hiddenFrom="md">
          <LocalTime at={received_at} />
        </Text>
      </>
    ),
  },
  { key: 'end', header: 'Result', cell: (record) => <RequestEnd record={record} /> },
  {
    key: 'took',
    header: 'Took',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ timing }) => msText(timing.total_ms),
  },
  {
    key: 'retries',
    header: 'Retries',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ retry_count: retries }) => (retries === 0 ? '' : retries),
  },
  {
    key: 'upstream',
    header: 'Upstream',
    visibleFrom: 'lg',
    cell: ({ upstream }) =>
      upstream === null ? (
        <Text c="dimmed">not sent</Text>
      ) : (
        // A long URL must not take the room of the path. The page of the request has all of it.
        <Text size="sm" maw={260} lineClamp={2} title={upstream.url}>
          {visibleText(upstream.url)}
        </Text>
      ),
  },
  {
    key: 'time',
    header: 'Arrived',
    visibleFrom: 'md',
    cell: ({ received_at }) => <LocalTime at={received_at} />,
  },
];
