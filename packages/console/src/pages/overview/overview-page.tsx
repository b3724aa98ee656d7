import { SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEnvironment } from '../../api/environments.ts';
import { useScope } from '../../api/rights.ts';
import { DashboardLinks } from '../../ui/external-links.tsx';
import { GrpcStatuses } from '../../ui/grpc-statuses.tsx';
import { LoadError } from '../../ui/load-error.tsx';
import { Page } from '../../ui/page.tsx';
import { DataPlanesLine } from './data-planes-line.tsx';
import { FirstSteps, useIsEmpty } from './first-steps.tsx';
import { LatestChanges } from './latest-changes.tsx';
import { Note } from './panel.tsx';
import { overviewSearch, PERIODS, type PeriodName } from './periods.ts';
import { StatCards } from './stat-cards.tsx';
import { TopRoutes } from './top-routes.tsx';
import { ChartsSkeleton, TrafficCharts } from './traffic-charts.tsx';
import { trafficQuery } from './traffic-query.ts';
import { UnhealthyServices } from './unhealthy-services.tsx';
import { versionMarkersQuery } from './version-markers.ts';
import classes from './overview-page.module.css';

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
  const contents = useIsEmpty(environment);
  return (
    <Page
      title="Overview"
      actions={
        <>
          <DataPlanesLine environment={environment} />
          <SegmentedControl
            aria-label="Period"
            data={CHOICES}
            value={period ?? 'live'}
            onChange={(value) =>
              void navigate({ search: overviewSearch({ period: value }), replace: true })
            }
          />
        </>
      }
    >
      <Stack gap="md">
        <UnhealthyServices environment={environment} />
        {contents?.hasRoute === false ? (
          <FirstSteps environment={environment} hasService={contents.hasService} />
        ) : (
          <TrafficOf environment={environment} period={period} />
        )}
        <div className={classes.lists}>
          {contents?.hasRoute !== false && <TopRoutes environment={environment} period={period} />}
          <LatestChanges environment={environment} />
        </div>
        {contents?.hasRoute !== false && <TrafficLinks environment={environment} period={period} />}
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
  const seesVersions = useScope('config:read').allowed;
  const markers = useQuery({ ...versionMarkersQuery(environment), enabled: seesVersions });
  if (!allowed) return <Note>{reason}</Note>;
  if (error !== null && data === undefined) {
    return <LoadError error={error} onRetry={() => void refetch()} />;
  }
  return (
    <>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <StatCards traffic={data} period={period} />
      <GrpcStatuses statuses={data?.grpcStatuses ?? []} of={{ environment }} />
      {data === undefined ? (
        <ChartsSkeleton />
      ) : (
        <TrafficCharts
          points={data.points}
          range={data.range}
          markers={markers.data ?? NO_MARKERS}
        />
      )}
    </>
  );
}

/** What other tools know of the same traffic. Before it is read, the link would lead to another period. */
function TrafficLinks({ environment, period }: TrafficOfProps) {
  const { allowed } = useScope('requests:read');
  const { data } = useQuery({ ...trafficQuery(environment, period), enabled: allowed });
  if (data === undefined) return null;
  return <DashboardLinks dashboards={['traffic']} of={{ environment }} range={data.range} />;
}

const NO_MARKERS = [] as const;
