import { writeFile } from 'node:fs/promises';
import { command, flag, whole } from '../command.ts';
import { scoped } from '../lab/run.ts';
import { named } from '../peers/peer.ts';
import { writeSection } from '../report/document.ts';
import { log } from '../lab/log.ts';
import { formatCells } from '../report/table.ts';
import { formatNumber } from './chart/axis.ts';
import { drawLineChart, type Series } from './chart/line-chart.ts';
import { changes } from './changes.ts';
import type { Curve } from './curve.ts';
import { dataPlanes } from './data-planes.ts';
import { loadCurves } from './load-curves.ts';
import { recordLookups } from './record-lookups.ts';

/** The page that has a section for each curve, and the folder of its images. */
const PAGE = new URL('../../docs/understand/growth.md', import.meta.url);
const IMAGES = new URL('../../docs/images/', import.meta.url);

/** Measures the chosen curves one after the other; prints and writes each as soon as it is measured. */
export const curves = command({
  name: 'curves',
  summary: 'how costs grow, as charts: over routes and other sizes',
  argument: '[names, such as routes]',
  options: {
    rounds: whole(undefined, [1, 1000], 'rounds, changes or lookups of each point'),
    write: flag('write images and their sections into docs/'),
  },
  async run(run, { rounds, write }, names) {
    for (const curve of named([...loadCurves, dataPlanes, changes, recordLookups], names)) {
      log(`measuring ${curve.name}`);
      const series = await scoped(run, (part) => curve.measure(part, rounds));
      process.stdout.write(`${curve.title}\n\n${tableOf(curve, series)}\n\n`);
      if (write) await writeCurve(curve, series);
    }
  },
});

/** Writes the chart of a curve into the images, and the section of the page that shows it. */
async function writeCurve(curve: Curve, series: readonly Series[]): Promise<void> {
  const file = `growth-${curve.name}.svg`;
  await writeFile(new URL(file, IMAGES), drawLineChart({ ...curve, series }));
  // For readers who do not see the chart: where each series begins and ends.
  const ends = series.map(({ name, points }) => {
    const [first, last] = [points.at(0), points.at(-1)].map(
      (point) => `${formatMeasured(point?.y ?? NaN)} at ${formatNumber(point?.x ?? NaN)}`,
    );
    return `${name}: ${first}, ${last}`;
  });
  const text = `${curve.title} (${curve.y.label}). ${ends.join('; ')}`;
  await writeSection(PAGE, curve.name, `![${text}](../images/${file})`);
}

/** A row for each x. */
function tableOf({ x, y }: Curve, series: readonly Series[]): string {
  const xs = new Set(series.flatMap(({ points }) => points.map((point) => point.x)));
  const names = series.map(({ name }) => (series.length === 1 ? y.label : name));
  const rows = [...xs].map((value) => [
    formatNumber(value),
    ...series.map(({ points }) => {
      const point = points.find((one) => one.x === value);
      return point === undefined ? '' : formatMeasured(point.y);
    }),
  ]);
  return formatCells([x.label, ...names], rows);
}

/** Three digits: further ones are noise. */
const formatMeasured = (value: number) => formatNumber(Number(value.toPrecision(3)));
