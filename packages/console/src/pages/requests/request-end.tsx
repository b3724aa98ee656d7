import { grpcStatusText } from '@gateway/client/grpc-status';
import { Group, Text } from '@mantine/core';
import type { RequestRecord } from '../../api/client.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';

interface RequestEndProps {
  readonly record: Pick<RequestRecord, 'status' | 'grpc_status' | 'outcome' | 'error_code'>;
}

/** How a request ended: the status, that of a gRPC call, the outcome, and the error of the gateway if it made one. */
export function RequestEnd({ record }: RequestEndProps) {
  const { status, grpc_status: grpcStatus, outcome, error_code: code } = record;
  return (
    <Group gap="xs">
      <Text size="sm" fw={600} span>
        {status ?? '–'}
      </Text>
      {grpcStatus !== null && (
        <Text size="sm" span>
          gRPC {grpcStatusText(grpcStatus)}
        </Text>
      )}
      <StatusBadge status={outcome} />
      {code !== null && code !== outcome && (
        <Text size="sm" span>
          {code}
        </Text>
      )}
    </Group>
  );
}
