import { fitAxis, formatNumber, type Axis, type AxisKind } from './axis.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Series {
  readonly name: string;
  /** In the order of x. */
  readonly points: readonly Point[];
}

export interface LineChart {
  readonly title: string;
  readonly x: AxisKind;
  readonly y: AxisKind;
  readonly series: readonly Series[];
}

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 76;
const RIGHT = 40;
const TOP = 78;
const BOTTOM = 60;
const LEGEND_STEP = 250;

/** A browser chooses the colours of its own scheme, also where a page shows the chart as an image. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .page { fill: #ffffff; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
  .s0 { stroke: #0969da; } .m0 { fill: #0969da; }
  .s1 { stroke: #bc4c00; stroke-dasharray: 7 4; } .m1 { fill: #bc4c00; }
  .s2 { stroke: #1a7f37; stroke-dasharray: 2 4; } .m2 { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .page { fill: #0d1117; }
    .grid { stroke: #3d444d; }
    .s0 { stroke: #4493f8; } .m0 { fill: #4493f8; }
    .s1 { stroke: #f0883e; } .m1 { fill: #f0883e; }
    .s2 { stroke: #3fb950; } .m2 { fill: #3fb950; }
  }
`;

/** Draws a chart as an SVG document. @throws if it has more than three series */
export function drawLineChart(chart: LineChart): string {
  if (chart.series.length > 3) throw new Error('a chart has colours for three series');
  const points = chart.series.flatMap((one) => one.points);
  const x = fitAxis(
    chart.x,
    points.map((point) => point.x),
  );
  const y = fitAxis(
    chart.y,
    points.map((point) => point.y),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(chart.title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>`,
    text(LEFT, 24, chart.title, 'start', 'title'),
    text(LEFT, 68, chart.y.label, 'start'),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, chart.x.label, 'middle'),
    ...grid(x, y),
    ...chart.series.flatMap((one, index) => line(one, index, x, y)),
    ...(chart.series.length > 1 ? chart.series.flatMap(legend) : []),
    '</svg>',
    '',
  ].join('\n');
}

const xOf = (axis: Axis, value: number) => round(LEFT + axis.at(value) * (WIDTH - LEFT - RIGHT));
const yOf = (axis: Axis, value: number) => {
  return round(HEIGHT - BOTTOM - axis.at(value) * (HEIGHT - TOP - BOTTOM));
};
const round = (value: number) => Number(value.toFixed(1));

function grid(x: Axis, y: Axis): string[] {
  const bottom = HEIGHT - BOTTOM;
  return [
    ...x.ticks.flatMap((tick) => [
      `<path class="grid" d="M${xOf(x, tick)} ${TOP}V${bottom}"/>`,
      text(xOf(x, tick), bottom + 20, formatNumber(tick), 'middle'),
    ]),
    ...y.ticks.flatMap((tick) => [
      `<path class="grid" d="M${LEFT} ${yOf(y, tick)}H${WIDTH - RIGHT}"/>`,
      text(LEFT - 8, yOf(y, tick) + 4, formatNumber(tick), 'end'),
    ]),
  ];
}

function line({ points }: Series, index: number, x: Axis, y: Axis): string[] {
  const places = points.map((point) => [xOf(x, point.x), yOf(y, point.y)] as const);
  return [
    `<path class="line s${index}" d="M${places.map((place) => place.join(' ')).join('L')}"/>`,
    ...places.map(([cx, cy]) => `<circle class="m${index}" cx="${cx}" cy="${cy}" r="4"/>`),
  ];
}

function legend({ name }: Series, index: number): string[] {
  const x = LEFT + index * LEGEND_STEP;
  return [`<path class="line s${index}" d="M${x} 42h28"/>`, text(x + 36, 46, name, 'start')];
}

function text(x: number, y: number, content: string, anchor: string, name = ''): string {
  const kind = name === '' ? '' : ` class="${name}"`;
  return `<text${kind} x="${x}" y="${y}" text-anchor="${anchor}">${escape(content)}</text>`;
}

function escape(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
