import { Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import type { Route, Statistics } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { Chart } from '../../../ui/chart/chart.tsx';
import { Facet } from '../../../ui/facets/facet.tsx';
import { GrpcStatuses } from '../../../ui/grpc-statuses.tsx';
import { LoadError } from '../../../ui/load-error.tsx';
import { msText } from '../../../ui/ms-text.ts';
import { PERIODS } from '../../overview/periods.ts';
import { RecentChanges, useRecentChanges } from '../recent-changes.tsx';
import { routePageSearch } from '../route-page-search.ts';
import { RouteNumbers } from './route-numbers.tsx';
import { routePeriodQuery } from './route-traffic-query.ts';
import { classLines, durationLines, stepTimes } from './traffic-lines.ts';

const page = getRouteApi('/app/routes/$routeId');

const HEIGHT = 220;
const CHOICES = Object.entries(PERIODS).map(([value, { label }]) => ({ value, label }));
const countValue = (value: number) => Math.round(value).toLocaleString();

/** The traffic of a route: numbers, and charts with the changes of the route in them. */
export function OverviewTab({ route }: { readonly route: Route }) {
  const { allowed, reason } = useScope('requests:read');
  const { period = '1h', version } = page.useSearch();
  const navigate = page.useNavigate();
  const { data, error, refetch } = useQuery({
    ...routePeriodQuery(route, period, version),
    enabled: allowed,
  });
  const { seconds, stepSeconds } = PERIODS[period];
  const { events, markers } = useRecentChanges(route, seconds);
  const lines = useMemo(() => linesOf(data, stepSeconds), [data, stepSeconds]);
  if (!allowed) return <Text c="dimmed">{reason}</Text>;

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
      <RouteNumbers route={route} period={period} statistics={data} />
      <GrpcStatuses
        statuses={data?.grpc_statuses ?? []}
        of={{ environment: route.environment, route: route.name }}
      />
      <ChartPanel title="Requests by class of status">
        <Chart
          label="Requests by class of status over time"
          times={lines.times}
          lines={lines.classes}
          valueText={countValue}
          height={HEIGHT}
          isStacked
          markers={markers}
        />
        <RecentChanges route={route} events={events} />
      </ChartPanel>
      <ChartPanel title="Durations">
        <Chart
          label="Percentiles of the durations over time"
          times={lines.times}
          lines={lines.durations}
          valueText={msText}
          height={HEIGHT}
          markers={markers}
        />
      </ChartPanel>
    </Stack>
  );
}

/** A chart at full width. */
function ChartPanel({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" miw={0} aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function linesOf(data: Statistics | undefined, stepSeconds: number) {
  const times = data === undefined ? [] : stepTimes(data, stepSeconds);
  return {
    times: times.map((ms) => ms / 1000),
    classes: classLines(data?.groups ?? [], times),
    durations: durationLines(data?.steps ?? [], times),
  };
}
