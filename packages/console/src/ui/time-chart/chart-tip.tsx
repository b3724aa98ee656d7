import { localTime } from '../time-text.ts';
import type { ChartSeries } from './chart-series.ts';
import classes from './time-chart.module.css';
import { placeOf, type TimeRange } from './time-scale.ts';
import type { Chosen } from './use-brush.ts';

interface ChartTipProps {
  readonly of: TimeRange;
  readonly range: TimeRange;
  readonly chosen: Chosen;
  readonly series: readonly ChartSeries[];
  readonly isStacked: boolean;
  readonly valueText: (value: number) => string;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

/** The values under the pointer. Of bars that are dragged over it shows the sums, of lines the last values. */
export function ChartTip({ of, range, chosen, series, isStacked, valueText }: ChartTipProps) {
  const first = Math.min(chosen.from, chosen.to);
  const last = Math.max(chosen.from, chosen.to);
  const middle = placeOf((of.fromMs + of.toMs) / 2, range);
  return (
    <div
      className={classes.tip}
      data-side={middle > 0.5 ? 'left' : 'right'}
      style={{ left: `${placeOf(middle > 0.5 ? of.fromMs : of.toMs, range) * 100}%` }}
      aria-hidden
    >
      <span className={classes.tipTime}>
        {localTime(new Date(of.fromMs).toISOString())} – {time.format(of.toMs)}
      </span>
      {series.toReversed().map(({ key, name, tone, values }) => {
        const known = values.slice(first, last + 1).filter((value) => value !== null);
        const value = isStacked ? known.reduce((sum, one) => sum + one, 0) : (known.at(-1) ?? null);
        return (
          <span key={key} className={classes.tipRow}>
            <span className={classes.swatch} data-tone={tone} />
            {name}
            <b>{value === null ? '–' : valueText(value)}</b>
          </span>
        );
      })}
    </div>
  );
}
