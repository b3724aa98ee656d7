import type { QueryRules } from '../../routing-table/compile-rewrite.ts';
import { fillTemplate, type VariableSource } from '../fill-template.ts';

/**
 * The query with some parameters removed and others set. A parameter that is set replaces all of its name, at the place of
 * the first one, else at the end; without a value it is removed. All others stay as they were sent.
 *
 * @param query including its question mark, or empty
 */
export function rewriteQuery(
  query: string,
  { removed, set }: QueryRules,
  source: VariableSource,
): string {
  const parts = query.length > 1 ? query.slice(1).split('&') : [];
  const kept: string[] = [];
  const isPlaced = set.map(() => false);
  for (const part of parts) {
    const name = parameterName(part);
    const at = set.findIndex((one) => one.name === name);
    if (at === -1) {
      if (!removed.has(name)) kept.push(part);
    } else if (isPlaced[at] === false) {
      isPlaced[at] = true;
      kept.push(...assigned(set[at], source));
    }
  }
  set.forEach((one, at) => {
    if (isPlaced[at] === false) kept.push(...assigned(one, source));
  });
  if (kept.length > 0) return `?${kept.join('&')}`;
  return parts.length === 0 ? query : '';
}

function assigned(
  parameter: QueryRules['set'][number] | undefined,
  source: VariableSource,
): readonly string[] {
  if (parameter === undefined) return [];
  const value = fillTemplate(parameter.value, source, 'query');
  return value === undefined ? [] : [parameter.encodedName + value];
}

/** The name of a parameter as servers read it: a plus sign is a space, and escapes are bytes of UTF-8. */
function parameterName(part: string): string {
  const equals = part.indexOf('=');
  const name = equals === -1 ? part : part.slice(0, equals);
  if (!/[%+\x80-\xff]/.test(name)) return name;
  const bytes = name
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
