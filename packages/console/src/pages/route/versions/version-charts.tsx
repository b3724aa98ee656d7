import { Paper, SimpleGrid, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import type { Route, Statistics } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { Chart } from '../../../ui/chart/chart.tsx';
import { msText } from '../../../ui/ms-text.ts';
import { shareText } from '../../../ui/share-text.ts';
import { stepTimes, versionLines } from '../overview/traffic-lines.ts';
import { RecentChanges, useRecentChanges } from '../recent-changes.tsx';
import type { Versions } from './shares.ts';
import { versionTrafficQuery } from './versions-query.ts';

interface VersionChartsProps {
  readonly route: Route;
  readonly versions: Versions;
}

const HEIGHT = 180;
const HOUR_S = 3600;
const MINUTE_S = 60;
/** More lines cannot be told apart. */
const SHOWN_VERSIONS = 5;

/** Errors and durations of each version over the last hour, with the changes of the route in them. */
export function VersionCharts({ route, versions }: VersionChartsProps) {
  const { allowed } = useScope('requests:read');
  const { data } = useQuery({ ...versionTrafficQuery(route, 60, true), enabled: allowed });
  const { events, markers } = useRecentChanges(route, HOUR_S);
  const names = versions
    .slice(0, SHOWN_VERSIONS)
    .map(({ name }) => name)
    .join('\n');
  const lines = useMemo(() => linesOf(data, names.split('\n')), [data, names]);
  if (!allowed) return null;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <ChartPanel title="Errors in the last hour">
        <Chart
          label="Error rate of each version over the last hour"
          times={lines.times}
          lines={lines.errors}
          valueText={shareText}
          height={HEIGHT}
          markers={markers}
        />
        <RecentChanges route={route} events={events} />
      </ChartPanel>
      <ChartPanel title="p95 in the last hour">
        <Chart
          label="95th percentile of the durations of each version over the last hour"
          times={lines.times}
          lines={lines.durations}
          valueText={msText}
          height={HEIGHT}
          markers={markers}
        />
      </ChartPanel>
    </SimpleGrid>
  );
}

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

function linesOf(data: Statistics | undefined, names: readonly string[]) {
  const times = data === undefined ? [] : stepTimes(data, MINUTE_S);
  const of = (valueOf: Parameters<typeof versionLines>[3]) =>
    versionLines(data?.groups ?? [], names, times, valueOf);
  return {
    times: times.map((ms) => ms / 1000),
    errors: of((step) => (step === undefined ? null : step.errors / step.requests)),
    durations: of((step) => step?.p95_ms ?? null),
  };
}
