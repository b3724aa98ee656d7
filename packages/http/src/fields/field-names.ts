import { KNOWN_SPELLINGS } from './known-names.ts';
import { cacheByName } from './name-cache.ts';

/** A field name is a token (RFC 9110 sections 5.1 and 5.6.2). */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_LENGTH = 32;
/** In addition to common names, this many with the same length and first character are compared in place. */
const RECENT_NAMES = 2;

/** A copy of the name; empty if it is not a field name. */
const validName = cacheByName((name) => (FIELD_NAME.test(name) ? name : ''));

/** Names with the same length and first character: the common ones, then the most recent ones. */
interface Candidates {
  readonly names: string[];
  /** The number of common names, which stay. */
  readonly fixed: number;
  /** The position for the next new name. */
  next: number;
}

const candidates = new Array<Candidates | undefined>((MAX_LENGTH + 1) * 128).fill(undefined);
for (const name of KNOWN_SPELLINGS) {
  const key = keyOf(name, 0, name.length);
  const names = [...(candidates[key]?.names ?? []), name];
  candidates[key] = { names, fixed: names.length, next: 0 };
}

function keyOf(text: string, from: number, to: number): number {
  return ((to - from) << 7) | (text.charCodeAt(from) & 0x7f);
}

/**
 * Returns a copy of the field name between two positions of a head; empty if it is not a field name. Nearly all heads
 * have the same few names, and comparing them in place is cheaper than slicing, hashing and looking up the name.
 */
export function fieldNameAt(text: string, from: number, to: number): string {
  if (to - from > MAX_LENGTH) return validName(text.slice(from, to));
  const key = keyOf(text, from, to);
  const near = candidates[key];
  if (near !== undefined) {
    for (const name of near.names) if (text.startsWith(name, from)) return name;
  }
  const name = validName(text.slice(from, to));
  if (name !== '') remember(key, name);
  return name;
}

function remember(key: number, name: string): void {
  const near = (candidates[key] ??= { names: [], fixed: 0, next: 0 });
  near.names[near.fixed + near.next] = name;
  near.next = (near.next + 1) % RECENT_NAMES;
}
