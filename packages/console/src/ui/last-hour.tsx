import { requestsOfLastHour, trafficText, type TrafficFilter } from '@gateway/client/lost-traffic';
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { gateway } from '../api/client.ts';

interface LastHourProps {
  /** Such as `route payments`. */
  readonly subject: string;
  readonly filter: TrafficFilter;
}

/** How many requests something had in the last hour, for the question whether to stop or delete it. */
export function LastHour({ subject, filter }: LastHourProps) {
  const { data, isPending } = useQuery({
    queryKey: ['last-hour', filter],
    // A query may not have undefined as its result.
    queryFn: async ({ signal }) => ({
      requests: await requestsOfLastHour(gateway, filter, signal),
    }),
    staleTime: 0,
  });
  return (
    <Text size="sm" fw={600} role="status">
      {isPending
        ? 'Counting the requests of the last hour …'
        : trafficText(subject, data?.requests)}
    </Text>
  );
}
