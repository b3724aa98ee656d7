import { visibleText } from '../visible-text.ts';
/** A resource while it is edited, in the form of the API. A value that the API will refuse may be in it. */
export type Draft = Readonly<Record<string, unknown>>;

/** The value at a path such as `rate_limit.limit` or `versions.0.weight`; undefined if there is none. */
export function valueAt(draft: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    return (value as Draft)[name];
  }, draft);
}

/** The draft with another value at the path. Objects on the way are made if they are missing. */
export function withValue(draft: Draft, path: string, value: unknown): Draft {
  return changed(draft, path.split('.'), value) as Draft;
}

function changed(part: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(part)) {
    const items: readonly unknown[] = part;
    return items.map((item, index) => (String(index) === name ? changed(item, rest, value) : item));
  }
  const fields = isObject(part) ? part : {};
  return { ...fields, [name]: changed(fields[name], rest, value) };
}

/**
 * What differs, as the body of a PATCH: fields that are objects of `merged` only with their changed fields, so that nobody
 * else's change of another field is undone; everything else as a whole.
 */
export function changesBetween(
  before: Draft,
  after: Draft,
  merged: readonly string[] = [],
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    if (isSame(old, value)) continue;
    const isMerged = merged.includes(name) && isObject(old) && isObject(value);
    changes[name] = isMerged ? changesBetween(old, value) : value;
  }
  return changes;
}

/**
 * The body of a PATCH that undoes another one: each field that it changed as it was before.
 * @param together fields of which one replaces the other, so that both are needed if one was changed
 */
export function undoing(
  changes: Draft,
  before: Draft,
  together: readonly string[] = [],
): Record<string, unknown> {
  const names = new Set(Object.keys(changes));
  if (together.some((name) => names.has(name))) for (const name of together) names.add(name);
  return Object.fromEntries([...names].map((name) => [name, before[name]]));
}

/** The draft with the body of a PATCH applied to it. */
export function withChanges(draft: Draft, changes: Draft, merged: readonly string[]): Draft {
  const result: Record<string, unknown> = { ...draft };
  for (const [name, value] of Object.entries(changes)) {
    const old = draft[name];
    const isMerged = merged.includes(name) && isObject(old) && isObject(value);
    result[name] = isMerged ? { ...old, ...value } : value;
  }
  return result;
}

/** A field that differs between two readings of a resource. */
export interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The fields that differ, fields of objects each on their own, lists as a whole. */
export function differencesBetween(before: Draft, after: Draft, prefix = ''): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const path = `${prefix}${name}`;
    const [old, value] = [before[name], after[name]];
    if (isSame(old, value)) return [];
    if (isObject(old) && isObject(value)) return differencesBetween(old, value, `${path}.`);
    return [{ path, before: old, after: value }];
  });
}

/** A value of a field for people. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  if (typeof value === 'string') return visibleText(value);
  const isPlainList = Array.isArray(value) && value.every((item) => !isObject(item));
  if (!isPlainList) return visibleText(JSON.stringify(value));
  return value.length === 0 ? 'none' : visibleText(value.join(', '));
}

function isObject(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values of the API are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}
