import { bytesText } from '@gateway/client/measures';
import { readFileSync, statSync } from 'node:fs';
import type { Terminal } from '../terminal/terminal.ts';
import { UsageError } from '../program/exit-codes.ts';

/** The fields of a resource. The API checks them. */
export type Fields = Readonly<Record<string, unknown>>;

/** A resource with its certificates is far smaller. */
const MAX_BYTES = 1024 * 1024;

/** Reads the fields of a resource from a file, or from stdin for `-`. */
export async function readBody(file: string, terminal: Terminal): Promise<Fields> {
  const name = file === '-' ? 'stdin' : file;
  const text = file === '-' ? await terminal.readInput(MAX_BYTES) : readSmallFile(file);
  const body = await parseLazily(text, name);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Fields;
  throw new UsageError(`${name}:1:1: the document must be an object, such as "timeout_ms: 5000"`);
}

/** Parses YAML by the library, which is loaded only when there is something to parse. */
export async function parseLazily(text: string, file: string): Promise<unknown> {
  const { parseYaml } = await import('./parse-yaml.ts');
  return parseYaml(text, file);
}

function readSmallFile(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new UsageError(`${file} is not a file`);
  if (stats.size > MAX_BYTES) throw new UsageError(`${file} has more than ${bytesText(MAX_BYTES)}`);
  return readFileSync(file, 'utf8');
}
