import type { Screen } from './screen.ts';

/** As wide as the widest of the fonts draws it. */
const CHAR_WIDTH = 8.05;
const LINE_HEIGHT = 18;
const MARGIN = 16;
const FONT = "ui-monospace, 'JetBrains Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** The picture has a dark terminal in both themes of the documentation. */
const BACKGROUND = '#131518';
const TEXT = '#d7dade';
const STYLES: Readonly<Record<number, string>> = {
  31: 'fill="#ff7b72"',
  32: 'fill="#56d364"',
  33: 'fill="#e3b341"',
  1: 'font-weight="600" fill="#ffffff"',
  2: 'fill="#8b949e"',
};

/** Screens one below the other, as an SVG in which the text can be selected. */
export function terminalSvg(screens: readonly Screen[], columns: number): string {
  const lines = screens.flatMap(({ line, text }, at) => [
    ...(at === 0 ? [] : ['']),
    `\u001b[2m$\u001b[22m \u001b[1mgwctl ${line}\u001b[22m`,
    ...text.split('\n'),
  ]);
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const rows = lines.map((line, at) => {
    const y = MARGIN + (at + 0.75) * LINE_HEIGHT;
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spansOf(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="${FONT}" font-size="13" fill="${TEXT}">
${rows.join('\n')}
</g>
</svg>
`;
}

/** A line with the sequences of its styles (ECMA-48, SGR); gwctl nests none of them. */
function spansOf(line: string): string {
  // oxlint-disable-next-line no-control-regex
  const parts = line.split(/\u001b\[(\d+)m/);
  let style: string | undefined;
  return parts
    .map((part, at) => {
      if (at % 2 === 1) {
        style = STYLES[Number(part)];
        return '';
      }
      const text = escaped(part);
      return style === undefined || text === '' ? text : `<tspan ${style}>${text}</tspan>`;
    })
    .join('');
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
