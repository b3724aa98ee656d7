import { grpcStatusText, isGrpcFailure } from '@gateway/client/grpc-status';
import { Group, Text } from '@mantine/core';
import type { Statistics } from '../api/client.ts';
import { TextLink } from './text-link.tsx';

interface GrpcStatusesProps {
  readonly statuses: Statistics['grpc_statuses'];
  /** Which requests were counted. */
  readonly of: { readonly environment: string; readonly route?: string };
}

/** How many gRPC calls ended with each status; nothing if there were none. Each leads to its requests. */
export function GrpcStatuses({ statuses, of }: GrpcStatusesProps) {
  if (statuses.length === 0) return null;
  return (
    <Group gap="xs" mt={4} role="group" aria-label="gRPC calls by status">
      <Text size="sm" c="dimmed">
        gRPC calls by status
      </Text>
      {statuses.map(({ grpc_status: status, requests }) => (
        <TextLink
          key={status}
          to="/requests"
          search={{ ...of, grpc: String(status) }}
          size="sm"
          {...(isGrpcFailure(status) ? { c: 'var(--mantine-color-error)' } : {})}
        >
          {grpcStatusText(status)}: {requests.toLocaleString('en')}
        </TextLink>
      ))}
    </Group>
  );
}
