import { ChartAxes } from './chart-axes.tsx';
import { ChartMarkers } from './chart-markers.tsx';
import type { ChartMarker } from './group-markers.ts';
import type { ChartSeries } from './chart-series.ts';
import { ChartTip } from './chart-tip.tsx';
import { barsPath, BOX, largestStack, linePath, stackBases } from './series-paths.ts';
import classes from './time-chart.module.css';
import { placeOf, rangeOfSteps, valueTicks, type TimeRange } from './time-scale.ts';
import { useBrush } from './use-brush.ts';

interface TimeChartProps {
  readonly title: string;
  /** Which time it is, after the title. */
  readonly over?: string | undefined;
  /** Says what the chart shows, for people who do not see it. */
  readonly label: string;
  readonly range: TimeRange;
  /** In order. A last one that is not over yet is drawn fainter. */
  readonly steps: readonly TimeRange[];
  readonly series: readonly ChartSeries[];
  /** `bars` stand on each other. */
  readonly kind: 'bars' | 'lines';
  readonly valueText: (value: number) => string;
  /** Said if all values are 0, such as `No errors in this time.` */
  readonly zeroText?: string;
  readonly markers?: readonly ChartMarker[];
  /** A step was pressed, or several were dragged over. */
  readonly onRange?: (range: TimeRange) => void;
  readonly height?: number;
}

const USUAL_HEIGHT = 168;
const NO_REQUESTS = 'No requests in this time.';

/** Numbers over time, in steps. A press on a step, or a drag over several, asks for what is behind them. */
export function TimeChart(props: TimeChartProps) {
  const { title, over, label, range, steps, series, kind, valueText, onRange } = props;
  const { markers = [], height = USUAL_HEIGHT, zeroText = NO_REQUESTS } = props;
  const brush = useBrush(steps, range, onRange);
  const values = series.map((one) => one.values);
  const isStacked = kind === 'bars';
  const largest = isStacked
    ? largestStack(values)
    : Math.max(0, ...values.flat().map((value) => value ?? 0));
  const ticks = valueTicks(largest, isStacked);
  const hasValues = values.flat().some((value) => value !== null);
  // The highest value does not touch the top.
  const top = largest * 1.08;
  const bases = stackBases(values);
  // The first line lies over the others where they are the same, because it is the one that is read most.
  const drawn = isStacked ? series : series.toReversed();
  const chosen = brush.chosen && rangeOfSteps(steps, brush.chosen.from, brush.chosen.to);
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span className={classes.title}>
          {title}
          {over !== undefined && <span className={classes.over}>, {over}</span>}
        </span>
        <span className={classes.legend}>
          {series.map(({ key, name, tone, note }) => (
            <span key={key} className={classes.entry}>
              <span className={classes.swatch} data-tone={tone} aria-hidden />
              {note ?? name}
            </span>
          ))}
        </span>
      </figcaption>
      <ChartAxes range={range} ticks={ticks} top={top} valueText={valueText} height={height}>
        <div
          className={classes.plot}
          role="img"
          aria-label={label}
          data-pressable={onRange !== undefined || undefined}
          {...brush.handlers}
        >
          {chosen !== undefined && (
            <span
              className={classes.chosen}
              style={{
                left: `${placeOf(chosen.fromMs, range) * 100}%`,
                width: `${(placeOf(chosen.toMs, range) - placeOf(chosen.fromMs, range)) * 100}%`,
              }}
            />
          )}
          <svg viewBox={`0 0 ${BOX.width} ${BOX.height}`} preserveAspectRatio="none" aria-hidden>
            {drawn.map((one, index) => (
              <path
                key={one.key}
                data-tone={one.tone}
                className={isStacked ? classes.bars : classes.line}
                d={
                  isStacked
                    ? barsPath(one.values, bases[index] ?? [], steps, range, top)
                    : linePath(one.values, steps, range, top)
                }
              />
            ))}
          </svg>
        </div>
        <ChartMarkers markers={markers} range={range} />
        {chosen !== undefined && brush.chosen !== undefined && (
          <ChartTip
            of={chosen}
            range={range}
            chosen={brush.chosen}
            series={series}
            isStacked={isStacked}
            valueText={valueText}
          />
        )}
      </ChartAxes>
      {largest === 0 && <p className={classes.nothing}>{hasValues ? zeroText : NO_REQUESTS}</p>}
    </figure>
  );
}
