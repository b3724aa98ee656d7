import { diffArrays } from 'diff';
import type { components } from '@gateway/client';
import { pointerParts } from '../input/json-pointer.ts';
import { printable } from '../output/printable.ts';
import type { Look } from './look.ts';
import { hasParts, partsOf, valueText } from './value-text.ts';

type FieldChange = components['schemas']['ApplyResult']['changes'][number]['fields'][number];

export type Fields = Readonly<Record<string, unknown>>;

/** The longest name that other names are aligned with. */
const MAX_NAME = 32;
const INDENT = '    ';

/** A line for each field of an update: the old value and the new one. Lists and long values take several lines. */
export function changedFieldLines(fields: readonly FieldChange[], look: Look): string[] {
  const names = fields.map(({ path }) => fieldName(path));
  const width = widthOf(names);
  return fields.flatMap((field, at) => changedFieldLine(field, names[at] ?? '', width, look));
}

function changedFieldLine(
  { before, after, secret_changed: isSecret }: FieldChange,
  name: string,
  width: number,
  look: Look,
): string[] {
  const label = `${INDENT}${name.padEnd(width)}  `;
  if (isSecret) return [label + look.colour('yellow', 'the secret differs')];
  const [old, present] = [valueText(before), valueText(after)];
  const arrow = look.unicode ? '→' : '->';
  const isShort = label.length + old.length + present.length + 4 <= look.columns;
  if (isShort && !hasParts(before) && !hasParts(after)) {
    return [`${label}${look.colour('red', old)} ${arrow} ${look.colour('green', present)}`];
  }
  const changes = diffArrays(partsOf(before), partsOf(after)).flatMap((part) =>
    part.value.map((text: string) => {
      if (part.removed) return look.colour('red', `${INDENT}  - ${text}`);
      if (part.added) return look.colour('green', `${INDENT}  + ${text}`);
      return look.colour('dim', `${INDENT}    ${text}`);
    }),
  );
  return [`${INDENT}${name}`, ...changes];
}

/** A line for each field of a resource that is created or deleted, below its name. What is long takes several. */
export function fieldLines(fields: Fields, look: Look): string[] {
  const shown = Object.entries(fields)
    .filter(([name]) => name !== 'name')
    .flatMap(([name, value]) => expanded(name, value, look));
  const width = widthOf(shown.map(([name]) => name));
  return shown.flatMap(([name, value]) => {
    const label = `${INDENT}${printable(name).padEnd(width)}  `;
    const text = valueText(value);
    const isLine = !hasParts(value) && label.length + text.length <= look.columns;
    if (isLine || partsOf(value).length < 2) return [label + text];
    return [`${INDENT}${printable(name)}`, ...partsOf(value).map((part) => `${INDENT}  ${part}`)];
  });
}

/** An object that is too long for a line as its fields, such as `tls.ca_pem`. */
function expanded(name: string, value: unknown, look: Look): [name: string, value: unknown][] {
  if (value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) return [[name, value]];
  const fields = Object.entries(value as Fields);
  const room = look.columns - INDENT.length - MAX_NAME;
  const isShort = valueText(value).length <= room && !fields.some(([, one]) => hasParts(one));
  if (isShort) return [[name, value]];
  return fields.flatMap(([inner, one]) => expanded(`${name}.${inner}`, one, look));
}

/** Such as `rate_limit.limit` of the JSON pointer `/rate_limit/limit`. */
function fieldName(pointer: string): string {
  return printable(pointerParts(pointer).join('.'));
}

function widthOf(names: readonly string[]): number {
  const lengths = names.map(({ length }) => length).filter((length) => length <= MAX_NAME);
  return Math.max(0, ...lengths);
}
