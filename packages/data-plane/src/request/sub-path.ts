import { readingsOf } from './path-readings.ts';

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
  nesting: 'must not build escapes out of escapes more than 6 times',
} as const;
export type SubPathRefusal = keyof typeof SUB_PATH_REFUSALS;

/** How many times servers decode: one that decodes more often does not work behind any proxy. */
const MAX_DECODINGS = 3;
/** How many times the text that is left is decoded to its end, so that every check ends. */
const MAX_WHOLE_DECODINGS = 3;
/** More different texts than this need bytes that were chosen for it. */
const MAX_TEXTS = 4;

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
 * @returns `encodedControl` only if there is no other reason
 */
export function refuseSubPath(subPath: string): SubPathRefusal | undefined {
  if (!/[%\\;#]|\/\.|[^!-~]/.test(subPath)) return undefined;
  if (subPath.includes('#')) return 'fragment';
  if (/%(?![0-9A-Fa-f]{2})/.test(subPath)) return 'escape';
  if (/[\t\n\r]/.test(subPath)) return 'control';
  let texts: ReadonlySet<string> = new Set([subPath]);
  let hasEncodedControl = false;
  for (let decodings = 0; decodings <= MAX_DECODINGS + MAX_WHOLE_DECODINGS; decodings += 1) {
    const escape = decodings < MAX_DECODINGS ? ESCAPE : NESTED_ESCAPE;
    const decoded = new Set<string>();
    for (const text of texts) {
      if (/[\t\n\r]/.test(text)) hasEncodedControl = true;
      // oxlint-disable-next-line no-control-regex -- looks for control characters
      if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text)) return 'control';
      for (const reading of readingsOf(text)) {
        const reason = refuseSegments(reading);
        if (reason !== undefined) return reason;
        const next = reading.replace(escape, decodeEscape);
        if (next !== reading) decoded.add(next);
      }
    }
    if (decoded.size === 0) return hasEncodedControl ? 'encodedControl' : undefined;
    if (decoded.size > MAX_TEXTS) break;
    texts = decoded;
  }
  return 'nesting';
}

const ESCAPE = /%([0-9A-Fa-f]{2})/g;
/** Also one whose percent sign is encoded, any number of times. */
const NESTED_ESCAPE = /%(?:25)*([0-9A-Fa-f]{2})/g;

/** One character with the value of the byte. */
function decodeEscape(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

function refuseSegments(text: string): SubPathRefusal | undefined {
  if (!/[/\\]\./.test(text)) return undefined;
  let isLeading = true;
  let isAfterDot = false;
  const segments = text.split(/[/\\]/);
  for (const [index, segment] of segments.entries()) {
    if (/^\.\.?;/.test(segment)) return 'parameter';
    const name = segment.split(ENDS_NAME, 1)[0] ?? '';
    if (isParent(name)) return 'parent';
    // `/.//host` becomes `//host`, which an upstream could read as a host (RFC 3986 section 4.2).
    if (isLeading && isAfterDot && name === '' && index < segments.length - 1) return 'host';
    if (name === '.') isAfterDot = true;
    else if (name !== '') isLeading = false;
  }
  return undefined;
}

/** A parameter, a query or a fragment after decoding, and the end of a text in C. */
const ENDS_NAME = /[;?#\0]/;

function isParent(name: string): boolean {
  return name === '..' || (name.includes(' ') && /^\. *\.[. ]*$/.test(name));
}
