import type { HeaderFields } from './header-fields.ts';

/** How long a list is kept for further messages, in use or not, because it may contain a credential. */
export const KEPT_MS = 10_000;

const shared = new WeakSet<HeaderFields>();

/** Several messages have this list, because their field lines were the same. Nobody may change it. */
export function shareFields(fields: HeaderFields): void {
  shared.add(fields);
}

/**
 * Caches what is computed from a list of fields alone, for those lists that several messages share, as long as the list
 * itself is kept. `read` is what was computed from it before.
 */
export function cacheByFields<Value extends object | string, Read = void>(
  compute: (fields: HeaderFields, read: Read) => Value,
): (fields: HeaderFields, read: Read) => Value {
  const known = new WeakMap<HeaderFields, Value>();
  return (fields, read) => {
    const found = known.get(fields);
    if (found !== undefined) return found;
    const value = compute(fields, read);
    if (shared.has(fields)) known.set(fields, value);
    return value;
  };
}
