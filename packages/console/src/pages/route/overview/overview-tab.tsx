import { Group, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Route } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { Facet } from '../../../ui/facets/facet.tsx';
import { DashboardLinks } from '../../../ui/external-links.tsx';
import { NotPermitted } from '../../../ui/not-permitted.tsx';
import { GrpcStatuses } from '../../../ui/grpc-statuses.tsx';
import { LoadError } from '../../../ui/load-error.tsx';
import { PERIODS } from '../../overview/periods.ts';
import { TrafficCharts } from '../../overview/traffic-charts.tsx';
import { RecentChanges, useRecentChanges } from '../recent-changes.tsx';
import { routePageSearch } from '../route-page-search.ts';
import { ChartsSkeleton } from './charts-skeleton.tsx';
import { RouteNumbers } from './route-numbers.tsx';
import { routePeriodQuery } from './route-traffic-query.ts';

const page = getRouteApi('/app/routes/$routeId');

const CHOICES = Object.entries(PERIODS).map(([value, { label }]) => ({ value, label }));

/** The traffic of a route: numbers, and charts with the changes of the route in them. */
export function OverviewTab({ route }: { readonly route: Route }) {
  const { allowed, reason } = useScope('requests:read');
  const { period = '1h', version } = page.useSearch();
  const navigate = page.useNavigate();
  const { data, error, refetch } = useQuery({
    ...routePeriodQuery(route, period, version),
    enabled: allowed,
  });
  const { events, markers } = useRecentChanges(route, PERIODS[period].seconds);
  const filter = useMemo(() => ({ route: route.name }), [route.name]);
  if (!allowed) return <NotPermitted reason={reason} />;

  const show = (change: { readonly period?: string; readonly version?: string | undefined }) =>
    void navigate({
      search: ({ environment, ...now }) => ({
        ...(environment !== undefined && { environment }),
        ...routePageSearch({ ...now, ...change }),
      }),
      replace: true,
    });
  return (
    <Stack gap="md">
      <Group gap="xs">
        <SegmentedControl
          aria-label="Period"
          data={CHOICES}
          value={period}
          onChange={(value) => show({ period: value })}
        />
        {route.versions !== null && (
          <Facet
            label="Version"
            choices={route.versions.map(({ name }) => ({ value: name, label: name }))}
            value={version}
            onChange={(value) => show({ version: value })}
          />
        )}
      </Group>
      {error !== null && <LoadError error={error} onRetry={() => void refetch()} />}
      <RouteNumbers route={route} traffic={data} />
      <GrpcStatuses
        statuses={data?.grpcStatuses ?? []}
        of={{ environment: route.environment, route: route.name }}
      />
      {data === undefined ? (
        <ChartsSkeleton />
      ) : (
        <TrafficCharts
          points={data.points}
          range={data.range}
          markers={markers}
          filter={filter}
          isWide
        />
      )}
      <RecentChanges route={route} events={events} />
      {data !== undefined && (
        <DashboardLinks
          dashboards={['route']}
          of={{ environment: route.environment, route: route.name }}
          range={data.range}
        />
      )}
    </Stack>
  );
}
