import { decodeToTheEnd, type PathBytes } from './path-bytes.ts';
import { readPath } from './path-readings.ts';
import { FOUND } from './segment-states.ts';

/** Why a sub-path is refused. docs/use/policies/paths-and-methods.md has an example of each. */
export const SUB_PATH_REFUSALS = {
  fragment: 'must not have a fragment',
  escape: 'must have two hexadecimal digits after each percent sign',
  control: 'must not contain a control character',
  /** The only one that a route may lift; see `allow_encoded_control_characters`. It stands for tab, CR and LF. */
  encodedControl: 'must not contain an encoded control character',
  parent: 'must not contain a segment that a server could read as ..',
  parameter: 'must not have a parameter after a segment of dots',
  host: 'must not have an empty segment after a leading segment of one dot',
} as const;
export type SubPathRefusal = keyof typeof SUB_PATH_REFUSALS;

/**
 * Why a sub-path may not be appended to an upstream's base path, or undefined if it may.
 *
 * A sub-path must not leave the base path, however the upstream parses it. So a segment is refused if it is `..` in plain
 * text, percent-encoded once or several times, before `;` parameters, a query, a fragment or a NUL, between backslashes,
 * with spaces, which Windows removes, with tabs and line breaks, which URL parsers remove, in overlong UTF-8, with bytes
 * that are not UTF-8, which some decoders drop, or in characters that stand for dots and slashes. A segment of one dot
 * never leaves the base path. Fragments, control characters and invalid escapes are refused too (RFC 3986 sections 2.1,
 * 3.3; RFC 9112 section 3.2.1).
 *
 * It runs before authentication, so its work grows with the length of the path alone.
 *
 * @returns `encodedControl` only if there is no other reason
 */
export function refuseOddSubPath(subPath: string): SubPathRefusal | undefined {
  if (subPath.includes('#')) return 'fragment';
  if (/%(?![0-9A-Fa-f]{2})/.test(subPath)) return 'escape';
  if (/[\t\n\r]/.test(subPath)) return 'control';
  const path = decodeToTheEnd(subPath);
  const controls = controlsIn(path);
  if (controls === 'control') return controls;
  const { refusals, control } = readPath(path);
  if (control) return 'control';
  if ((refusals & FOUND.parameter) !== 0) return 'parameter';
  if ((refusals & FOUND.parent) !== 0) return 'parent';
  return (refusals & FOUND.host) === 0 ? controls : 'host';
}

/** `encodedControl` stands for those that a route may allow. */
function controlsIn({ bytes, length }: PathBytes): 'control' | 'encodedControl' | undefined {
  let controls: 'encodedControl' | undefined;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x1f && byte !== 0x7f) continue;
    if (byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return 'control';
    controls = 'encodedControl';
  }
  return controls;
}
