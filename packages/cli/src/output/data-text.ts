import { columnsOf, type DataOutput } from './formats.ts';
import { valuesAt } from './json-path.ts';
import { valueText } from './printable.ts';
import { tableLines, type Look } from './table.ts';

/** A resource, or a list of them, as data. JSON and YAML escape control characters. */
export async function dataText(data: unknown, output: DataOutput): Promise<string> {
  if (output === 'json') return `${JSON.stringify(data, null, 2)}\n`;
  if (output === 'yaml') return yamlText(data);
  const items: unknown[] = Array.isArray(data) ? data : [data];
  if (output === 'name') return linesOf(items.map(nameOf));
  const columns = columnsOf(output);
  if (columns !== undefined) return linesOf(tableLines(items, columns, WHOLE_LINES));
  return linesOf(valuesAt(output.slice('jsonpath='.length), data).map(valueText));
}

/** Such data for items that come one after the other: a line of JSON for each, or a YAML document. */
export async function itemText(item: unknown, output: DataOutput): Promise<string> {
  if (output === 'json') return `${JSON.stringify(item)}\n`;
  if (output === 'yaml') return `---\n${await yamlText(item)}`;
  return dataText(item, output);
}

/** The library is large, and few commands need it. */
async function yamlText(data: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(data);
}

/** What a command takes to name the resource: versions have numbers, requests and events ids, and callers tokens. */
function nameOf(item: unknown): string {
  const { name, id, version, token_id, route } = (item ?? {}) as Readonly<Record<string, unknown>>;
  const known = [name, id, version, token_id, route].find(
    (one) => one !== undefined && one !== null,
  );
  return known === undefined ? '-' : valueText(known);
}

/** Data is whole, also where a terminal has not the room. */
const WHOLE_LINES: Look = {
  columns: 0,
  unicode: false,
  stdoutIsTerminal: false,
  nowMs: Date.now,
  colour: (_style, text) => text,
};

const linesOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
