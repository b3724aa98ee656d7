import { Group, Text } from '@mantine/core';
import type { RequestRecord } from '../../api/client.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';

interface RequestEndProps {
  readonly record: Pick<RequestRecord, 'status' | 'outcome' | 'error_code'>;
}

/** How a request ended: the status, the outcome, and the error of the gateway if it made one. */
export function RequestEnd({ record: { status, outcome, error_code: code } }: RequestEndProps) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600} span>
        {status ?? '–'}
      </Text>
      <StatusBadge status={outcome} />
      {code !== null && code !== outcome && (
        <Text size="sm" span>
          {code}
        </Text>
      )}
    </Group>
  );
}
