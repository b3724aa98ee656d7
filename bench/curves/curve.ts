import type { Run } from '../lab/run.ts';
import { formatCells } from '../report/table.ts';

export interface Series {
  readonly name: string;
  /** In the order of x; each series has the same x. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** How a cost grows. */
export interface Curve {
  /** Of its section on the page. */
  readonly name: string;
  readonly title: string;
  readonly x: string;
  /** With its unit, such as `CPU per request, µs`. */
  readonly y: string;
  /** Whether the values span several powers of ten: a chart shows nothing then. */
  readonly isWide?: boolean;
  /** @param rounds instead of its own number of them */
  measure(run: Run, rounds: number | undefined): Promise<readonly Series[]>;
}

/** A number of three digits, further ones are noise, with a space between thousands, as in the other tables. */
export function formatNumber(value: number): string {
  const digits = Number(value.toPrecision(3));
  return digits < 10_000 ? String(digits) : String(digits).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

/** A row for each x. */
export function tableOf({ x, y }: Curve, series: readonly Series[]): string {
  const [{ points } = { points: [] }] = series;
  const names = series.map(({ name }) => (series.length === 1 ? y : name));
  const rows = points.map((point, at) => [
    formatNumber(point.x),
    ...series.map((one) => formatNumber(one.points[at]?.y ?? NaN)),
  ]);
  return formatCells([x, ...names], rows);
}

/** A chart in the language of Mermaid, from 0, so that a flat curve looks flat. */
export function chartOf({ title, x, y }: Curve, series: readonly Series[]): string {
  const [{ points } = { points: [] }] = series;
  const most = Math.max(...series.flatMap((one) => one.points.map((point) => point.y)));
  const names = series.length === 1 ? '' : `: ${series.map(({ name }) => name).join('; ')}`;
  return [
    '```mermaid',
    'xychart-beta',
    `  title "${title}${names}"`,
    `  x-axis "${x}" [${points.map((point) => `"${formatNumber(point.x)}"`).join(', ')}]`,
    `  y-axis "${y}" 0 --> ${Number((most * 1.2).toPrecision(2))}`,
    ...series.map((one) => {
      return `  line [${one.points.map((point) => Number(point.y.toPrecision(3))).join(', ')}]`;
    }),
    '```',
  ].join('\n');
}
