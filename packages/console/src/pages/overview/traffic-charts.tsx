import { Paper, SimpleGrid, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart/chart.tsx';
import { msText } from '../../ui/ms-text.ts';
import { rateText } from './numbers.ts';
import type { TrafficPoint } from './traffic.ts';

const HEIGHT = 200;
/** Live charts fill from the right. */
const LIVE_SPAN_S = 120;

interface TrafficChartsProps {
  readonly points: readonly TrafficPoint[];
  readonly live: boolean;
}

/** The course of the traffic: requests and errors, and percentiles of the durations. */
export function TrafficCharts({ points, live }: TrafficChartsProps) {
  const leastSpanS = live ? LIVE_SPAN_S : 0;
  const { times, rates, durations } = useMemo(() => linesOf(points), [points]);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
      <Paper withBorder p="sm" miw={0}>
        <Title order={2} size="h5" mb={4}>
          Requests and errors per second
        </Title>
        <Chart
          label="Requests and errors per second over time"
          times={times}
          lines={rates}
          valueText={rateText}
          height={HEIGHT}
          leastSpanS={leastSpanS}
        />
      </Paper>
      <Paper withBorder p="sm" miw={0}>
        <Title order={2} size="h5" mb={4}>
          Durations
        </Title>
        <Chart
          label="Percentiles of the durations over time"
          times={times}
          lines={durations}
          valueText={msText}
          height={HEIGHT}
          leastSpanS={leastSpanS}
        />
      </Paper>
    </SimpleGrid>
  );
}

function linesOf(points: readonly TrafficPoint[]) {
  const values = (name: keyof TrafficPoint) => points.map((point) => point[name]);
  return {
    times: points.map(({ atMs }) => atMs / 1000),
    rates: [
      { name: 'requests', color: 'main', values: values('requests'), filled: true },
      { name: 'errors', color: 'errors', values: values('errors') },
    ],
    durations: [
      { name: 'p50', color: 'main', values: values('p50') },
      { name: 'p95', color: 'second', values: values('p95') },
      { name: 'p99', color: 'third', values: values('p99') },
    ],
  } as const;
}
