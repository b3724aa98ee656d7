import { writeFile } from 'node:fs/promises';
import { writeSection } from '../report/document.ts';
import { formatCells } from '../report/table.ts';
import { formatNumber } from './chart/axis.ts';
import { drawLineChart, type Series } from './chart/line-chart.ts';
import type { Curve } from './curve.ts';

/** The page that has a section for each curve. */
const PAGE = new URL('../../docs/understand/growth.md', import.meta.url);
const IMAGES = new URL('../../docs/images/', import.meta.url);

/** The points of a curve as a Markdown table, and how they were measured. */
export function describeCurve(curve: Curve, series: readonly Series[]): string {
  return `${formatSeries(curve, series)}\n\n${curve.method}`;
}

/** Writes the chart of a curve into the images, and the section of the page that shows it. */
export async function writeCurve(curve: Curve, series: readonly Series[]): Promise<void> {
  const file = `growth-${curve.name}.svg`;
  await writeFile(new URL(file, IMAGES), drawLineChart({ ...curve.chart, series }));
  const image = `![${alternativeText(curve, series)}](../images/${file})`;
  await writeSection(PAGE, curve.name, `${image}\n\n${describeCurve(curve, series)}`);
}

/** A row for each x. */
function formatSeries({ chart }: Curve, series: readonly Series[]): string {
  const xs = new Set(series.flatMap(({ points }) => points.map(({ x }) => x)));
  const names = series.map(({ name }) => (series.length === 1 ? chart.y.label : name));
  const rows = [...xs]
    .toSorted((a, b) => a - b)
    .map((x) => [
      formatNumber(x),
      ...series.map(({ points }) => {
        const point = points.find((one) => one.x === x);
        return point === undefined ? '' : formatMeasured(point.y);
      }),
    ]);
  return formatCells([chart.x.label, ...names], rows);
}

/** For readers who do not see the chart: where each series begins and ends. */
function alternativeText({ chart }: Curve, series: readonly Series[]): string {
  const ends = series.map(({ name, points }) => {
    const [first, last] = [points.at(0), points.at(-1)].map(
      (point) => `${formatMeasured(point?.y ?? NaN)} at ${formatNumber(point?.x ?? NaN)}`,
    );
    return `${name}: ${first}, ${last}`;
  });
  return `${chart.title} (${chart.y.label}). ${ends.join('; ')}`;
}

/** Three digits: further ones are noise. */
const formatMeasured = (value: number) => formatNumber(Number(value.toPrecision(3)));
