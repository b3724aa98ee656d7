import { SegmentedControl, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { GrpcStatuses } from '../../ui/grpc-statuses.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { DataPlaneList } from './data-plane-list.tsx';
import { LatestChanges } from './latest-changes.tsx';
import { Note } from './panel.tsx';
import { overviewSearch, PERIODS, type PeriodName } from './periods.ts';
import { StatTiles } from './stat-tiles.tsx';
import { TopRoutes } from './top-routes.tsx';
import { TrafficCharts } from './traffic-charts.tsx';
import { trafficQuery } from './traffic-query.ts';
import { UnhealthyServices } from './unhealthy-services.tsx';

const page = getRouteApi('/app/overview');

const CHOICES = [
  { value: 'live', label: 'Live' },
  ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
];

/** Whether the environment is healthy, what happens in it, and what changed. */
export function OverviewPage() {
  const environment = useEnvironment();
  const { period } = page.useSearch();
  const navigate = page.useNavigate();
  return (
    <Page
      title="Overview"
      actions={
        <SegmentedControl
          aria-label="Period"
          data={CHOICES}
          value={period ?? 'live'}
          onChange={(value) =>
            void navigate({ search: overviewSearch({ period: value }), replace: true })
          }
        />
      }
    >
      <Stack gap="sm">
        <TrafficOf environment={environment} period={period} />
        <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="sm">
          <UnhealthyServices environment={environment} />
          <DataPlaneList environment={environment} />
          <LatestChanges environment={environment} />
        </SimpleGrid>
        <TopRoutes environment={environment} period={period} />
      </Stack>
    </Page>
  );
}

interface TrafficOfProps {
  readonly environment: string;
  readonly period: PeriodName | undefined;
}

function TrafficOf({ environment, period }: TrafficOfProps) {
  const { allowed, reason } = useScope('requests:read');
  const options = trafficQuery(environment, period);
  const { data, error, refetch } = useQuery({ ...options, enabled: allowed });
  if (!allowed) return <Note>{reason}</Note>;
  return (
    <>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <StatTiles traffic={data} />
      <GrpcStatuses statuses={data?.grpcStatuses ?? []} of={{ environment }} />
      <TrafficCharts points={data?.points ?? NO_POINTS} live={period === undefined} />
    </>
  );
}

const NO_POINTS = [] as const;
