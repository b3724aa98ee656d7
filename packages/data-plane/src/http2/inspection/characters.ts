/** What a byte makes of the string that contains it. The bits of all bytes of a string are combined. */
export const INVALID_IN_NAME = 1;
export const INVALID_IN_VALUE = 2;
export const INVALID_IN_AUTHORITY = 4;

const TAB = 0x09;
const SPACE = 0x20;
const DELETE = 0x7f;

/** The bits of each byte. Values must not have control characters (RFC 9110 section 5.5). */
export const CHARACTER = new Uint8Array(256);

/** Tokens of RFC 9110 section 5.6.2 in lower case. A colon is allowed only at the start, where it is not looked up. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]$/;
/** RFC 3986 section 3.2. */
const AUTHORITY = /^[-._~!$&'()*+,;=:[\]@%0-9A-Za-z]$/;

for (let byte = 0; byte < CHARACTER.length; byte += 1) {
  const character = String.fromCharCode(byte);
  const isControl = (byte < SPACE && byte !== TAB) || byte === DELETE;
  CHARACTER[byte] =
    (NAME.test(character) ? 0 : INVALID_IN_NAME) |
    (isControl ? INVALID_IN_VALUE : 0) |
    (AUTHORITY.test(character) ? 0 : INVALID_IN_AUTHORITY);
}

/** Whether a value must not start or end with this byte (RFC 9113 section 8.2.1). */
export function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}
