import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { ChartLegend } from './chart-legend.tsx';
import type { ChartMarker } from './chart-markers.ts';
import { chartOptions, type ChartLine } from './chart-options.ts';
import { stackedValues } from './stacked-bars.ts';
import classes from './chart.module.css';

export interface ChartProps {
  /** Says what the chart shows, for people who do not see it. */
  readonly label: string;
  /** s since the Unix epoch, in order. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  /** Values for people, such as `12 ms`. */
  readonly valueText: (value: number) => string;
  readonly height: number;
  /** The axis is at least this long, s, and ends with the last time. */
  readonly leastSpanS?: number;
  /** Whether the values are bars that stand on each other, the last line at the bottom. */
  readonly isStacked?: boolean;
  /** What happened meanwhile. */
  readonly markers?: readonly ChartMarker[];
}

const NO_MARKERS: readonly ChartMarker[] = [];

/** A chart that uPlot draws. It is drawn anew when the colours change, and keeps the pointer when the values do. */
export function DrawnChart(props: ChartProps) {
  const { label, times, lines, valueText, height, leastSpanS = 0 } = props;
  const { isStacked = false, markers = NO_MARKERS } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const scheme = useComputedColorScheme('light');
  const [pointed, setPointed] = useState<number>();
  const create = useEffectEvent((target: HTMLDivElement) => {
    const options = chartOptions({
      target,
      lines,
      valueText,
      height,
      leastSpanS,
      isStacked,
      markers: () => shownMarkers.current,
      onPoint: setPointed,
    });
    return new UPlot(options, dataOf(times, lines, isStacked), target);
  });
  const shownMarkers = useRef(markers);
  const names = lines.map((line) => line.name).join();

  useEffect(() => {
    const target = place.current;
    if (target === null) return;
    const created = create(target);
    plot.current = created;
    const resized = new ResizeObserver(() =>
      created.setSize({ width: target.clientWidth, height }),
    );
    resized.observe(target);
    return () => {
      resized.disconnect();
      created.destroy();
      plot.current = undefined;
    };
  }, [scheme, names, height, leastSpanS, isStacked]);

  useEffect(() => {
    shownMarkers.current = markers;
    plot.current?.setData(dataOf(times, lines, isStacked));
  }, [times, lines, isStacked, markers]);

  return (
    <figure className={classes.figure}>
      <div ref={place} className={classes.plot} role="img" aria-label={label} />
      <ChartLegend
        times={times}
        lines={lines}
        valueText={valueText}
        pointed={pointed}
        markers={markers}
      />
    </figure>
  );
}

function dataOf(
  times: readonly number[],
  lines: readonly ChartLine[],
  isStacked: boolean,
): UPlot.AlignedData {
  const values = lines.map((line) => line.values);
  return [[...times], ...(isStacked ? stackedValues(values) : values.map((one) => [...one]))];
}
