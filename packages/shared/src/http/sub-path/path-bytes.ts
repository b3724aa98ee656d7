/**
 * A path with every escape decoded to the end. The arrays are used again for the next path, so that a check allocates
 * nothing.
 */
export interface PathBytes {
  bytes: Uint8Array;
  /** How many decodings each byte needs. Bytes that need different ones were never seen together by some servers. */
  depths: Uint8Array;
  length: number;
}

/** Larger arrays are not kept. */
const KEPT_BYTES = 64 * 1024;
const KEPT: PathBytes = {
  bytes: new Uint8Array(KEPT_BYTES),
  depths: new Uint8Array(KEPT_BYTES),
  length: 0,
};
const MAX_DEPTH = 255;

const PERCENT = 0x25;
const LETTER_U = 0x75;
const CAPITAL_U = 0x55;
/** Stands for a character that is no byte, and so for one that no server takes for another. */
const OTHER = 0x78;

/** The value of each hexadecimal digit; -1 for all other bytes. */
const DIGITS = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') {
  DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16);
}

export function isHexDigit(byte: number): boolean {
  return (DIGITS[byte] ?? -1) >= 0;
}

/**
 * Decodes a path until nothing is left to decode, also escapes that are made of escapes, and `%uXXXX`, which ASP.NET and
 * `unescape` of JavaScript decode. Escapes never overlap, so the order in which they are decoded does not matter, and
 * what a server sees that decodes less often differs only in escapes that are still there.
 *
 * @param text in which each character is one byte
 * @returns bytes that are valid until the next call
 */
export function decodeToTheEnd(text: string): PathBytes {
  const path = text.length <= KEPT_BYTES ? KEPT : emptyPath(text.length);
  const { bytes, depths } = path;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    bytes[length] = code > 0xff ? OTHER : code;
    depths[length] = 0;
    length += 1;
    // What an escape decodes to may be the last digit of another one.
    while (bytes[length - 3] === PERCENT || bytes[length - 6] === PERCENT) {
      const end = decodeLast(path, length);
      if (end === length) break;
      length = end;
    }
  }
  path.length = length;
  return path;
}

function emptyPath(size: number): PathBytes {
  return { bytes: new Uint8Array(size), depths: new Uint8Array(size), length: 0 };
}

/** Decodes the escape that ends at `length`, if there is one. Returns the new length. */
function decodeLast({ bytes, depths }: PathBytes, length: number): number {
  const last = DIGITS[bytes[length - 1] ?? 0] ?? -1;
  const high = DIGITS[bytes[length - 2] ?? 0] ?? -1;
  if (last < 0 || high < 0) return length;
  if (bytes[length - 3] === PERCENT) {
    bytes[length - 3] = high * 16 + last;
    depths[length - 3] = deepest(depths, length - 3, length);
    return length - 2;
  }
  const letter = bytes[length - 5];
  if (bytes[length - 6] !== PERCENT || (letter !== LETTER_U && letter !== CAPITAL_U)) return length;
  const top = DIGITS[bytes[length - 4] ?? 0] ?? -1;
  const second = DIGITS[bytes[length - 3] ?? 0] ?? -1;
  if (top < 0 || second < 0) return length;
  const code = top * 4096 + second * 256 + high * 16 + last;
  const depth = deepest(depths, length - 6, length);
  const begin = length - 6;
  // A character above U+00FF as UTF-8; a server may write one below it as the byte.
  const end = code <= 0xff ? begin + 1 : begin + (code < 0x800 ? 2 : 3);
  if (code <= 0xff) bytes[begin] = code;
  else {
    let rest = code;
    for (let at = end - 1; at > begin; at -= 1) {
      bytes[at] = 0x80 | (rest & 0x3f);
      rest >>= 6;
    }
    bytes[begin] = (code < 0x800 ? 0xc0 : 0xe0) | rest;
  }
  depths.fill(depth, begin, end);
  return end;
}

function deepest(depths: Uint8Array, begin: number, end: number): number {
  let depth = 0;
  for (let at = begin; at < end; at += 1) depth = Math.max(depth, depths[at] ?? 0);
  return Math.min(depth + 1, MAX_DEPTH);
}
