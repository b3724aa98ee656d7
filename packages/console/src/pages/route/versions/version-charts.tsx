import { Paper, SimpleGrid, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { serverClock, type Route } from '../../../api/client.ts';
import { useScope } from '../../../api/rights.ts';
import { msText } from '../../../ui/ms-text.ts';
import { shareText } from '../../../ui/share-text.ts';
import { TimeChart } from '../../../ui/time-chart/time-chart.tsx';
import { RecentChanges, useRecentChanges } from '../recent-changes.tsx';
import type { Versions } from './shares.ts';
import { stepsOf, versionSeries } from './version-series.ts';
import { versionTrafficQuery } from './versions-query.ts';

interface VersionChartsProps {
  readonly route: Route;
  readonly versions: Versions;
}

const HOUR_S = 3600;
const MINUTE_S = 60;
/** What the charts take with their headings, px. */
const HEIGHT = 258;

/** Errors and durations of each version over the last hour, with the changes of the route in them. */
export function VersionCharts({ route, versions }: VersionChartsProps) {
  const { allowed } = useScope('requests:read');
  const { data } = useQuery({ ...versionTrafficQuery(route, 60, true), enabled: allowed });
  const { events, markers } = useRecentChanges(route, HOUR_S);
  if (!allowed) return null;
  if (data === undefined) return <Skeleton height={HEIGHT} />;
  const names = versions.map(({ name }) => name);
  const { range, steps } = stepsOf(data, MINUTE_S, serverClock.nowMs());
  const shared = { range, steps, markers, kind: 'lines' as const };
  return (
    <>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Paper withBorder p="sm" miw={0}>
          <TimeChart
            {...shared}
            title="Errors"
            zeroText="No errors in this time."
            label="Error rate of each version over the last hour"
            series={versionSeries(data.groups, names, steps, (one) => one.errors / one.requests)}
            valueText={shareText}
          />
        </Paper>
        <Paper withBorder p="sm" miw={0}>
          <TimeChart
            {...shared}
            title="p95"
            label="95th percentile of the durations of each version over the last hour"
            series={versionSeries(data.groups, names, steps, (one) => one.p95_ms)}
            valueText={msText}
          />
        </Paper>
      </SimpleGrid>
      <RecentChanges route={route} events={events} />
    </>
  );
}
