import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNow } from '../../ui/now.ts';
import { healthReason } from './health-reason.ts';
import { serviceHealthQuery } from './services-query.ts';

interface HealthReasonProps {
  readonly serviceId: string;
  /** What stands before it, which is not said again. */
  readonly status: string;
}

/** Why a service is not healthy, and since when: `ejected 4 min ago: 5 of 5 requests failed`. */
export function HealthReason({ serviceId, status }: HealthReasonProps) {
  const { data } = useQuery(serviceHealthQuery(serviceId));
  const nowMs = useNow();
  const reason = data && healthReason(data, nowMs);
  if (reason === undefined) return null;
  return (
    <Text span inherit c="dimmed">
      {reason.startsWith(`${status} `) ? reason.slice(status.length + 1) : reason}
    </Text>
  );
}
