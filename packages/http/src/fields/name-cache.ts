import { KNOWN_SPELLINGS } from './known-names.ts';

const MAX_YOUNG_NAMES = 256;
const MAX_NAME_LENGTH = 64;

/**
 * Caches what is computed from a field name alone, by the name as it is written, because nearly all messages have the
 * same few names.
 *
 * Common names are always in the cache. Others are kept in two generations of at most 256 names: when the young one is
 * full it becomes the old one, and the old one is dropped. So memory is bounded, names in use stay, and unused names
 * cannot fill the cache permanently. Names longer than 64 characters are not cached.
 */
export function cacheByName<Value>(compute: (name: string) => Value): (name: string) => Value {
  const known = KNOWN_SPELLINGS.map((name) => [name, compute(name)] as const);
  let young = new Map(known);
  let old = new Map<string, Value>();
  return (name) => {
    const found = young.get(name);
    if (found !== undefined) return found;
    const own = copyText(name);
    const value = old.get(name) ?? compute(own);
    if (name.length > MAX_NAME_LENGTH) return value;
    if (young.size >= known.length + MAX_YOUNG_NAMES) {
      old = young;
      young = new Map(known);
    }
    young.set(own, value);
    return value;
  };
}

/**
 * Copies a text. A slice keeps the whole string alive, and a cached name must not keep its head with the credentials in
 * it.
 */
function copyText(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}
