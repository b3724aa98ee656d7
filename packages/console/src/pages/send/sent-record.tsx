import { ApiError } from '@gateway/client';
import { Group, Loader, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { gateway, serverClock } from '../../api/client.ts';
import { useScope } from '../../api/rights.ts';
import { countedText } from '@gateway/client/measures';
import { errorText } from '../../ui/error-text.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TextLink } from '../../ui/text-link.tsx';

const POLL_MS = 500;
/** Records arrive within a second or two, but wait while NATS or Postgres is away. */
const GIVE_UP_MS = 30_000;

/** The record of the request, as soon as it is stored. */
export function SentRecord({ id }: { readonly id: string | null }) {
  const { allowed } = useScope('requests:read');
  if (id === null) {
    return (
      <Text size="sm" c="dimmed">
        The response has no request id: no data plane of the gateway gave it.
      </Text>
    );
  }
  return allowed ? <PolledRecord id={id} /> : <Text size="sm">Request {id}</Text>;
}

function PolledRecord({ id }: { readonly id: string }) {
  const [untilMs] = useState(() => serverClock.nowMs() + GIVE_UP_MS);
  const { data: record, error } = useQuery({
    // As the page of the request reads it, which then has it already.
    queryKey: ['requests', 'one', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (await gateway.get('/v1/requests/{id}', { params, signal })).body.data;
    },
    staleTime: Infinity,
    retry: false,
    refetchInterval: ({ state }) =>
      state.data === undefined && isMissing(state.error) && serverClock.nowMs() < untilMs
        ? POLL_MS
        : false,
  });
  const link = (
    <TextLink to="/requests/$id" params={{ id }} size="sm" ff="monospace">
      {id}
    </TextLink>
  );
  if (record !== undefined) {
    const { outcome, error_code: code, attempts, upstream } = record;
    return (
      <Group gap="xs" role="group" aria-label="Record">
        {link}
        {outcome !== 'success' && <StatusBadge status={outcome} />}
        {code !== null && code !== outcome && <Text size="sm">{code}</Text>}
        <Text size="sm" c="dimmed">
          {upstream === null
            ? 'Not sent to an upstream.'
            : `${countedText(attempts.length, 'attempt')}, ${upstream.url}`}
        </Text>
      </Group>
    );
  }
  if (error !== null && !isMissing(error)) {
    return <Text size="sm">The record cannot be read: {errorText(error)}</Text>;
  }
  return serverClock.nowMs() < untilMs ? (
    <Group gap="xs">
      <Loader size={14} />
      <Text size="sm" c="dimmed">
        Request {id}: its record arrives in a moment.
      </Text>
    </Group>
  ) : (
    <Text size="sm">{link} has no record yet.</Text>
  );
}

function isMissing(error: unknown): boolean {
  return error === null || (error instanceof ApiError && error.code === 'request_not_found');
}
