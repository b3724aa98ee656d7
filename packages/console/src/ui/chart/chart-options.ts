import type UPlot from 'uplot';
import { barsOf } from './stacked-bars.ts';
import { drawMarkers, type ChartMarker } from './chart-markers.ts';

/** One line of a chart. */
export interface ChartLine {
  readonly name: string;
  /** The name of a colour that both themes have. */
  readonly color: ChartColor;
  /** One for each time; null: a gap. */
  readonly values: readonly (number | null)[];
  /** Whether the area below is filled. */
  readonly filled?: boolean;
}

export type ChartColor =
  | 'main'
  | 'errors'
  | 'second'
  | 'third'
  | 'fourth'
  | 'fifth'
  | 'answered'
  | 'redirected'
  | 'refused'
  | 'failed'
  | 'other';

interface OptionParts {
  readonly target: HTMLElement;
  readonly lines: readonly ChartLine[];
  readonly valueText: (value: number) => string;
  readonly height: number;
  readonly leastSpanS: number;
  /** Whether the values are bars that stand on each other. */
  readonly isStacked: boolean;
  readonly markers: () => readonly ChartMarker[];
  /** Called with the index of the time under the pointer; undefined: there is none. */
  readonly onPoint: (index: number | undefined) => void;
}

/** The options of uPlot. Colours are those of the theme, which a canvas cannot look up by itself. */
export function chartOptions(parts: OptionParts): UPlot.Options {
  const { target, lines, valueText, height, leastSpanS, isStacked, markers, onPoint } = parts;
  const style = getComputedStyle(target);
  const color = (name: string) => style.getPropertyValue(`--chart-${name}`).trim();
  const axis: UPlot.Axis = {
    stroke: color('text'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('grid'), width: 1 },
    ticks: { stroke: color('grid'), width: 1 },
  };
  return {
    width: target.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { range: ({ data: [times] }, first, last) => timeRange(times, first, last, leastSpanS) },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, space: 70, values: timeLabels },
      {
        ...axis,
        size: 64,
        values: (_plot, splits) => splits.map((value) => valueText(value)),
      },
    ],
    series: [
      {},
      ...lines.map((line): UPlot.Series => ({
        label: line.name,
        stroke: color(line.color),
        ...(isStacked
          ? barsOf(color(line.color))
          : lineOf(color(line.color), line.filled === true)),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
      draw: [(plot) => drawMarkers(plot, markers(), color('marker'))],
    },
  };
}

function lineOf(color: string, isFilled: boolean): Partial<UPlot.Series> {
  return {
    width: 2,
    points: {
      show: true,
      size: 5,
      filter: (plot, index) => lonePoints(plot.data[index] ?? []),
    },
    ...(isFilled ? { fill: `${color}22` } : {}),
  };
}

/** The times that the chart shows. uPlot makes up a last one of years later if there is one time only. */
export function timeRange(
  { length }: ArrayLike<number>,
  first: number,
  last: number,
  leastSpanS: number,
): [number, number] {
  const end = length === 1 ? first : last;
  return [Math.min(first, end - leastSpanS), end];
}

/** The values between gaps, which no line leads to. */
export function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const all = Array.from(values);
  const known = (index: number) => typeof all[index] === 'number';
  return [...all.keys()].filter((index) => known(index) && !known(index - 1) && !known(index + 1));
}

const DAY_S = 24 * 60 * 60;
const withSeconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const withMinutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const withDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** Times of the axis in the local zone, as exact as their distance. */
function timeLabels(_plot: UPlot, splits: number[]): string[] {
  const stepS = (splits[1] ?? 0) - (splits[0] ?? 0);
  const spanS = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const format = stepS < 60 ? withSeconds : spanS < 2 * DAY_S ? withMinutes : withDay;
  return splits.map((s) => format.format(s * 1000));
}
