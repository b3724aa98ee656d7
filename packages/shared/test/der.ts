/**
 * The part of the Distinguished Encoding Rules (ITU-T X.690) that certificates of tests need. Each function encodes one
 * value: tag, length, content.
 */

/** A SEQUENCE of encoded values. */
export function sequence(...parts: readonly Buffer[]): Buffer {
  return encode(0x30, Buffer.concat(parts));
}

/** A SET of encoded values. */
export function set(...parts: readonly Buffer[]): Buffer {
  return encode(0x31, Buffer.concat(parts));
}

/** An INTEGER of big-endian bytes. The highest bit of the first byte must be 0. */
export function integer(bytes: Buffer): Buffer {
  return encode(0x02, bytes);
}

/** BOOLEAN, true. */
export const booleanTrue = encode(0x01, Buffer.from([0xff]));

/** A BIT STRING without unused bits. */
export function bitString(bytes: Buffer): Buffer {
  return encode(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

/** An OCTET STRING. */
export function octetString(bytes: Buffer): Buffer {
  return encode(0x04, bytes);
}

/** A UTF8String. */
export function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text, 'utf8'));
}

/** A UTCTime in whole seconds, for years from 1950 to 2049. */
export function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, '');
  return encode(0x17, Buffer.from(`${digits.slice(2, 14)}Z`, 'ascii'));
}

/** An OBJECT IDENTIFIER, from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return encode(0x06, Buffer.from(bytes));
}

/** A context-specific tag around an encoded value. */
export function explicitTag(tag: number, value: Buffer): Buffer {
  return encode(0xa0 | tag, value);
}

/** A context-specific tag instead of the value's own. */
export function contextTag(tag: number, content: Buffer): Buffer {
  return encode(0x80 | tag, content);
}

function encode(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
