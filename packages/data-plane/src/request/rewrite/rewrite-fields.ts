import { filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { foldedName } from '@gateway/shared/http/headers';
import type { FieldRules } from '../../routing-table/compile-rewrite.ts';
import { fillTemplate, type VariableSource } from '../fill-template.ts';

/**
 * The fields with some removed, then others set, then others added. A name stands for all that a server could read as it,
 * in any case, with dashes or underscores. A field whose value is not known is left out, also as it came: nobody else
 * decides what it says.
 */
export function rewriteFields(
  fields: HeaderFields,
  rules: FieldRules,
  source: VariableSource,
): string[] {
  const { set, added } = rules;
  const values: string[] = [];
  let unknown: Set<string> | undefined;
  for (const { name, value } of [...set, ...added]) {
    const text = fillTemplate(value, source, 'field');
    if (text === undefined) (unknown ??= new Set()).add(foldedName(name));
    else values.push(name, text);
  }
  const kept = filterFields(fields, (name) => {
    const folded = foldedName(name);
    return !rules.dropped.has(folded) && unknown?.has(folded) !== true;
  });
  return kept.concat(values);
}

/** The fields of an early response: what the response does not have may not be in it either. */
export function withoutDropped(fields: HeaderFields, { dropped }: FieldRules): string[] {
  return filterFields(fields, (name) => !dropped.has(foldedName(name)));
}
