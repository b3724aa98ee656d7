import { byName } from './by-name.ts';

/** What the name of a field is: a token (RFC 9110 sections 5.1 and 5.6.2). */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** So many names of each length are found without making a text of what stands in the head. */
const NEAR_NAMES = 4;
const MAX_NEAR_LENGTH = 32;

/** The name in memory of its own; empty where it is none (RFC 9110 section 5.1). */
const soundName = byName((name) => (FIELD_NAME.test(name) ? name : ''));
/** The first names of each length that came, as they were written. */
const nearNames: readonly string[][] = Array.from({ length: MAX_NEAR_LENGTH + 1 }, () => []);

/**
 * The name of a field that stands in a head between two places, in memory of its own; empty where that
 * is no name. Nearly all heads have the same few names: to find one of them where it stands takes
 * less than to cut it out, hash it and look it up.
 */
export function fieldNameAt(text: string, from: number, to: number): string {
  const near = nearNames[to - from];
  if (near === undefined) return soundName(text.slice(from, to));
  for (const name of near) if (text.startsWith(name, from)) return name;
  const name = soundName(text.slice(from, to));
  if (name !== '' && near.length < NEAR_NAMES) near.push(name);
  return name;
}
