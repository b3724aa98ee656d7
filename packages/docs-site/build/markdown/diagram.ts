import { renderMermaidSVG } from 'beautiful-mermaid';
import { escapeHtml } from '../page/html.ts';
import { renderChart } from './chart.ts';

const MAX_WIDTH = 800;
/** Those of the page take their place. */
const COLOURS = { bg: '#fff', fg: '#000', transparent: true, padding: 8 };
/** Elements that others of the same diagram name; a page may have several diagrams. */
const ID = /\bid="([\w-]+)"/g;

/**
 * A diagram of Mermaid as a figure that a page shows without a script: charts by our own code, all others by a library that lays
 * them out. Its colours are those of the page, in its style sheet, because the policy of the page allows no style in an element.
 *
 * @param number of the diagram on its page
 * @throws Error if the diagram cannot be drawn
 */
export function renderDiagram(source: string, number: number): string {
  if (source.startsWith('xychart')) return renderChart(source);
  let svg = draw(source)
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replaceAll(/ style="[^"]*"/g, '')
    .replaceAll(/-?\d+\.\d{3,}/g, (value) => String(Math.round(Number(value) * 10) / 10))
    .replaceAll(/>\s+</g, '><');
  for (const [, id = ''] of svg.matchAll(ID)) {
    svg = svg
      .replaceAll(`"${id}"`, `"d${number}-${id}"`)
      .replaceAll(`#${id})`, `#d${number}-${id})`);
  }
  const label = escapeHtml(labelOf(source));
  return `<figure class="diagram">${svg.replace('<svg ', `<svg role="img" aria-label="${label}" `)}</figure>\n`;
}

/** A flow that is wider than a page goes from top to bottom, because it could not be read if it were made smaller. */
function draw(source: string): string {
  const svg = renderMermaidSVG(source, COLOURS);
  const [, width = '0'] = /viewBox="0 0 ([\d.]+)/.exec(svg) ?? [];
  if (Number(width) <= MAX_WIDTH || !source.startsWith('flowchart LR')) return svg;
  return renderMermaidSVG(source.replace('LR', 'TB'), COLOURS);
}

/** What a screen reader says in place of the picture: its kind and the words in it. */
function labelOf(source: string): string {
  const words = [...source.matchAll(/["[(]+([^"[\]()|]+)["\])]+/g)].map(([, word = '']) =>
    word.replaceAll('<br/>', ' ').trim(),
  );
  const kind = source.startsWith('sequence') ? 'Sequence diagram' : 'Diagram';
  const named = [...source.matchAll(/participant \w+ as (.+)/g)].map(([, name = '']) => name);
  return `${kind}: ${[...new Set([...named, ...words])].join(', ')}`;
}
