import { Box, Group, Skeleton, Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { Route, Statistics } from '../../api/client.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { minuteCounts } from './minute-counts.ts';
import { routeTrafficQuery } from './routes-query.ts';

/** The requests of the last hour as a line, asked for when the row is in view. */
export function RouteTraffic({ route }: { readonly route: Route }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>();
  const { data, isError } = useQuery({ ...routeTrafficQuery(route), enabled: inViewport });
  return (
    <Box ref={ref} mih={24}>
      {data !== undefined && <Traffic statistics={data} />}
      {data === undefined && isError && (
        <Text size="sm" c="dimmed">
          not known
        </Text>
      )}
      {data === undefined && !isError && <Skeleton height={16} width={160} />}
    </Box>
  );
}

function Traffic({ statistics }: { readonly statistics: Statistics }) {
  const { requests, errors } = minuteCounts(statistics);
  const { total } = statistics;
  const text = total.requests.toLocaleString();
  if (total.requests === 0) {
    return (
      <Text size="sm" c="dimmed">
        no requests
      </Text>
    );
  }
  return (
    <Group gap="xs" wrap="nowrap">
      <Sparkline label="Requests by minute" values={requests} errors={errors} />
      <Text size="sm">
        {text}
        {total.errors > 0 && (
          <Text span c="var(--mantine-color-error)" inherit>
            , {total.errors.toLocaleString()} failed
          </Text>
        )}
      </Text>
    </Group>
  );
}
