import { stringify } from 'yaml';
import { printable } from '../output/printable.ts';

/** A value on one line, as YAML writes it: `5000`, `[ GET, POST ]`, `{ name: stable, weight: 9 }`. */
export function valueText(value: unknown): string {
  return printable(stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd());
}

/** The parts of a value that are compared one by one: the items of a list, or the lines of a text. */
export function partsOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.map(valueText);
  if (typeof value === 'string' && value.includes('\n')) {
    return value.trimEnd().split('\n').map(printable);
  }
  if (hasLines(value))
    return stringify(value, { lineWidth: 0 }).trimEnd().split('\n').map(printable);
  return [valueText(value)];
}

/** Whether a value has parts that stand on lines of their own. */
export function hasParts(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object');
  return hasLines(value);
}

/** Whether a text, or a text of an object, has several lines, as a certificate has. */
function hasLines(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\n');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLines);
}
