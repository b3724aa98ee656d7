/** Bytes of a body; a string has one character a byte (latin1), and keeps what it holds. */
export type BodyBytes = Buffer | string;

/**
 * What is read at once up to this size becomes text in one go, the body with the head: each call out of
 * JavaScript, each view of a buffer and each buffer of its own costs more than to copy so few bytes.
 */
export const SMALL_MESSAGE_BYTES = 4 * 1024;

/** The same bytes in a buffer. */
export function toBuffer(bytes: BodyBytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
