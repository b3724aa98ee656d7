import { escapeHtml } from '../page/html.ts';

const WIDTH = 640;
const HEIGHT = 260;
/** Room for the labels of the axes. */
const LEFT = 52;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 48;
const STEPS = 4;

interface Chart {
  readonly title: string;
  /** What each line is, if the title says so. */
  readonly names: readonly string[];
  readonly xTitle: string;
  readonly xLabels: readonly string[];
  readonly yTitle: string;
  readonly yMin: number;
  readonly yMax: number;
  readonly lines: readonly (readonly number[])[];
}

/**
 * A chart of lines (`xychart-beta` of Mermaid) as a figure. The title may name the lines: `what: first line; second line`.
 *
 * @throws Error if the chart has something else than a title, both axes and lines
 */
export function renderChart(source: string): string {
  const chart = parseChart(source);
  const { title, names, lines } = chart;
  const legend = names.length === lines.length ? legendOf(names) : '';
  const label = escapeHtml([title, ...names].join('; '));
  const svg = [...axes(chart), ...lines.map((line, index) => drawLine(chart, line, index))].join(
    '',
  );
  return `<figure class="chart"><figcaption>${escapeHtml(title)}${legend}</figcaption><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${svg}</svg></figure>\n`;
}

function parseChart(source: string): Chart {
  const [head = '', ...rest] = source.trim().split('\n');
  const parts = new Map<string, string>();
  const lines: (readonly number[])[] = [];
  for (const line of rest) {
    const [, name = '', value = ''] = /^\s*([\w-]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'line') lines.push(JSON.parse(value) as number[]);
    else parts.set(name, value);
  }
  const [, fullTitle] = /^"(.*)"$/.exec(parts.get('title') ?? '') ?? [];
  const [, xTitle, xList] = /^"([^"]*)" (\[.*\])$/.exec(parts.get('x-axis') ?? '') ?? [];
  const [, yTitle, yMin, yMax] =
    /^"([^"]*)" (\S+) --> (\S+)$/.exec(parts.get('y-axis') ?? '') ?? [];
  if (head !== 'xychart-beta' || !fullTitle || !xTitle || !xList || !yTitle || lines.length === 0) {
    throw new Error(`the chart is not one of lines: ${source}`);
  }
  const [title = '', list] = fullTitle.split(': ');
  const names = list?.split('; ') ?? [];
  const xLabels = JSON.parse(xList) as string[];
  return { title, names, xTitle, xLabels, yTitle, yMin: Number(yMin), yMax: Number(yMax), lines };
}

function legendOf(names: readonly string[]): string {
  const items = names.map(
    (name, index) => `<span class="series-${index + 1}">${escapeHtml(name)}</span>`,
  );
  return `<span class="legend">${items.join('')}</span>`;
}

function xOf({ xLabels }: Chart, index: number): number {
  const step = (WIDTH - LEFT - RIGHT) / Math.max(xLabels.length, 1);
  return Math.round(LEFT + step * (index + 0.5));
}

function yOf({ yMin, yMax }: Chart, value: number): number {
  const share = (value - yMin) / (yMax - yMin);
  return Math.round((HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)) * 10) / 10;
}

function axes(chart: Chart): readonly string[] {
  const { yMin, yMax, xLabels, xTitle, yTitle } = chart;
  const ticks = Array.from(
    { length: STEPS + 1 },
    (_, step) => yMin + ((yMax - yMin) * step) / STEPS,
  );
  const middle = (HEIGHT - BOTTOM + TOP) / 2;
  return [
    ...ticks.map((tick) => {
      const y = yOf(chart, tick);
      const label = Number(tick.toPrecision(3)).toString();
      return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/><text x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${label}</text>`;
    }),
    ...xLabels.map(
      (label, index) =>
        `<text x="${xOf(chart, index)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeHtml(label)}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(xTitle)}</text>`,
    `<text transform="rotate(-90)" x="${-middle}" y="12" text-anchor="middle">${escapeHtml(yTitle)}</text>`,
  ];
}

function drawLine(chart: Chart, line: readonly number[], index: number): string {
  const points = line.map((value, at) => [xOf(chart, at), yOf(chart, value)] as const);
  const dots = points.map(
    ([x, y], at) =>
      `<circle cx="${x}" cy="${y}" r="3"><title>${escapeHtml(chart.xLabels[at] ?? '')}: ${line[at]}</title></circle>`,
  );
  return `<g class="series-${index + 1}"><polyline points="${points.map((point) => point.join(',')).join(' ')}"/>${dots.join('')}</g>`;
}
