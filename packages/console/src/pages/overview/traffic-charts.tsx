import { Paper, Skeleton } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { countedText } from '@gateway/client/measures';
import { msText } from '../../ui/ms-text.ts';
import { TextLink } from '../../ui/text-link.tsx';
import type { ChartSeries } from '../../ui/time-chart/chart-series.ts';
import { TimeChart } from '../../ui/time-chart/time-chart.tsx';
import type { ChartMarker } from '../../ui/time-chart/group-markers.ts';
import type { TimeRange } from '../../ui/time-chart/time-scale.ts';
import { requestsOf } from './requests-link.ts';
import { CLASS_NAMES, CLASS_TONES, STATUS_CLASSES } from './status-classes.ts';
import type { TrafficPoint } from './traffic.ts';
import classes from './traffic-charts.module.css';

/** What they take with their headings, px. */
export const CHARTS_HEIGHT = 258;
/** What the area of a chart and its axis take, px. */
const AREA_HEIGHT = 194;

interface TrafficChartsProps {
  readonly points: readonly TrafficPoint[];
  readonly range: TimeRange;
  readonly markers: readonly ChartMarker[];
  /** Narrows the requests that charts lead to; null: the list cannot be narrowed to them, so charts lead nowhere. */
  readonly filter?: RequestFilter | null;
  /** Which time it is, after the titles, if nothing else on the page says so. */
  readonly over?: string;
  /** Whether each chart has the whole width. */
  readonly isWide?: boolean;
}

interface RequestFilter {
  readonly route?: string;
  readonly upstream?: string;
}

/** The course of the traffic: requests by class of status, and percentiles of the durations. */
export function TrafficCharts(props: TrafficChartsProps) {
  const { points, range, markers, filter = {}, over, isWide = false } = props;
  const navigate = useNavigate();
  const statuses = useMemo(() => statusSeries(points, range, filter), [points, range, filter]);
  const durations = useMemo(() => durationSeries(points), [points]);
  const pressed =
    filter === null
      ? {}
      : {
          onRange: (chosen: TimeRange) =>
            void navigate({ to: '/requests', search: { ...requestsOf(chosen), ...filter } }),
        };
  return (
    <div className={classes.charts} data-stacked={isWide || undefined}>
      <Paper withBorder p="sm" miw={0}>
        <TimeChart
          title="Requests"
          over={over}
          label="Requests over time, by class of status"
          kind="bars"
          range={range}
          steps={points}
          series={statuses}
          markers={markers}
          valueText={(value) => value.toLocaleString('en')}
          {...pressed}
        />
      </Paper>
      <Paper withBorder p="sm" miw={0}>
        <TimeChart
          title="Durations"
          over={over}
          label="Percentiles of the durations over time"
          kind="lines"
          range={range}
          steps={points}
          series={durations}
          markers={markers}
          valueText={msText}
          {...pressed}
        />
      </Paper>
    </div>
  );
}

/** Cards of the size of the charts, while these are loaded. */
export function ChartsSkeleton({ isWide = false }: Pick<TrafficChartsProps, 'isWide'>) {
  return (
    <div
      className={classes.charts}
      data-wide={isWide || undefined}
      role="status"
      aria-label="Loading"
    >
      {['Requests', 'Durations'].map((title) => (
        <Paper key={title} withBorder p="sm" miw={0}>
          <div className={classes.loadingTitle}>{title}</div>
          <Skeleton height={AREA_HEIGHT} />
        </Paper>
      ))}
    </div>
  );
}

/** A class that no request has is left out, except the good one. Each leads to its requests. */
function statusSeries(
  points: readonly TrafficPoint[],
  range: TimeRange,
  filter: RequestFilter | null,
): readonly ChartSeries[] {
  return STATUS_CLASSES.flatMap((name): readonly ChartSeries[] => {
    const values = points.map(({ statuses }) => statuses[name]);
    const sum = values.reduce((total, value) => total + value, 0);
    if (sum === 0 && name !== '2xx') return [];
    const shown = CLASS_NAMES[name];
    return [
      {
        key: name,
        name: shown,
        tone: CLASS_TONES[name],
        values,
        note:
          filter === null ? (
            <span>
              {shown} <b>{sum.toLocaleString('en')}</b>
            </span>
          ) : (
            <TextLink
              to="/requests"
              search={{ ...requestsOf(range), ...filter, status: name }}
              size="xs"
              aria-label={`${shown}: ${countedText(sum, 'request')}`}
            >
              {shown} <b>{sum.toLocaleString('en')}</b>
            </TextLink>
          ),
      },
    ];
  });
}

function durationSeries(points: readonly TrafficPoint[]): readonly ChartSeries[] {
  return [
    { key: 'p50', name: 'p50', tone: 'first', values: points.map(({ p50 }) => p50) },
    { key: 'p95', name: 'p95', tone: 'second', values: points.map(({ p95 }) => p95) },
    { key: 'p99', name: 'p99', tone: 'tail', values: points.map(({ p99 }) => p99) },
  ];
}
