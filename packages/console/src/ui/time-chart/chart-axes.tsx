import type { CSSProperties, ReactNode } from 'react';
import classes from './time-chart.module.css';
import { placeOf, timeTicks, type TimeRange } from './time-scale.ts';

interface ChartAxesProps {
  readonly range: TimeRange;
  readonly ticks: readonly number[];
  /** The value at the top of the chart. */
  readonly top: number;
  readonly valueText: (value: number) => string;
  readonly height: number;
  readonly children: ReactNode;
}

const DAYS_MS = 2 * 24 * 60 * 60 * 1000;
const withMinutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });
const withDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The axes of a chart, and lines at the values. */
export function ChartAxes({ range, ticks, top, valueText, height, children }: ChartAxesProps) {
  const zoneMs = -new Date(range.toMs).getTimezoneOffset() * 60_000;
  const format = range.toMs - range.fromMs < DAYS_MS ? withMinutes : withDay;
  return (
    <div className={classes.axes}>
      <div className={classes.values} style={{ height }} aria-hidden>
        {ticks.map((value) => (
          <span key={value} style={{ bottom: `${top > 0 ? (value / top) * 100 : 0}%` }}>
            {valueText(value)}
          </span>
        ))}
      </div>
      <div className={classes.area} style={{ height }}>
        {ticks.map((value) => (
          <span
            key={value}
            className={classes.gridLine}
            style={{ bottom: `${top > 0 ? (value / top) * 100 : 0}%` }}
          />
        ))}
        {children}
      </div>
      <div className={classes.times} aria-hidden>
        {timeTicks(range, zoneMs).map((at) => (
          <span key={at} style={placedAt(placeOf(at, range))}>
            {format.format(at)}
          </span>
        ))}
      </div>
    </div>
  );
}

function placedAt(place: number): CSSProperties {
  return { '--place': `${place * 100}%` } as CSSProperties;
}
