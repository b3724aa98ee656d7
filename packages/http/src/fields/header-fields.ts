/**
 * Header fields in order, in one flat array: name, value, name, value. Most fields are read, filtered and written once;
 * an object for each field would cost more than all of that.
 */
export type HeaderFields = readonly string[];

/** Calls `visit` with each field in order. */
export function eachField(
  fields: HeaderFields,
  visit: (name: string, value: string) => void,
): void {
  for (let index = 0; index < fields.length; index += 2) {
    visit(fields[index] ?? '', fields[index + 1] ?? '');
  }
}

/** The value of the first field with this name, which is given in lower case. */
export function fieldValue(fields: HeaderFields, lowerCaseName: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index]?.toLowerCase() === lowerCaseName) return fields[index + 1];
  }
  return undefined;
}

/** A copy with the fields for which `keep` returns true. */
export function filterFields(
  fields: HeaderFields,
  keep: (name: string, value: string) => boolean,
): string[] {
  const kept: string[] = [];
  eachField(fields, (name, value) => {
    if (keep(name, value)) kept.push(name, value);
  });
  return kept;
}

/** A copy without the fields of this name, which is given in lower case. */
export function withoutField(fields: HeaderFields, lowerCaseName: string): string[] {
  return filterFields(fields, (name) => name.toLowerCase() !== lowerCaseName);
}
