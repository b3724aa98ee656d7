import { KNOWN_SPELLINGS } from './known-names.ts';
import { cacheByName } from './name-cache.ts';

/** A field name is a token (RFC 9110 sections 5.1 and 5.6.2). */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_LENGTH = 32;
/** For each length, this many names beside the common ones are compared in place. */
const RECENT_NAMES = 2;

/** The name in memory of its own; empty if it is not a field name. */
const validName = cacheByName((name) => (FIELD_NAME.test(name) ? name : ''));

/** Names of one length that are compared in place: the common ones, then those that came last. */
interface NamesOfLength {
  readonly names: string[];
  /** How many of them are common ones, which stay. */
  readonly fixed: number;
  /** Where the next name that comes goes. */
  next: number;
}

const byLength: readonly NamesOfLength[] = Array.from(
  { length: MAX_LENGTH + 1 },
  (_none, length) => {
    const names = KNOWN_SPELLINGS.filter((name) => name.length === length);
    return { names, fixed: names.length, next: 0 };
  },
);

/**
 * The field name between two places of a head, in memory of its own; empty if it is not a field name. Nearly all heads
 * have the same few names: to compare them in place is cheaper than to cut the name out, hash it and look it up.
 */
export function fieldNameAt(text: string, from: number, to: number): string {
  const near = byLength[to - from];
  if (near === undefined) return validName(text.slice(from, to));
  for (const name of near.names) if (text.startsWith(name, from)) return name;
  const name = validName(text.slice(from, to));
  if (name !== '') {
    near.names[near.fixed + near.next] = name;
    near.next = (near.next + 1) % RECENT_NAMES;
  }
  return name;
}
