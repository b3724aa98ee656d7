/** Bytes of a body. A string has one character a byte (latin1), and stays valid. */
export type BodyBytes = Buffer | string;

/**
 * A read of up to this size becomes one string, head and body together: each call out of JavaScript, each view of a
 * buffer and each new buffer costs more than to copy so few bytes.
 */
export const SMALL_MESSAGE_BYTES = 4 * 1024;

/** The same bytes in a buffer. */
export function toBuffer(bytes: BodyBytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
