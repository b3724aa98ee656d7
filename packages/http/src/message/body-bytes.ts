/** Bytes of a body. In a string each character is one byte (latin1); it stays valid. */
export type BodyBytes = Buffer | string;

/**
 * A read of up to this size is converted to one string, head and body together. Each call out of JavaScript, each view
 * of a buffer and each new buffer costs more than copying this many bytes.
 */
export const SMALL_MESSAGE_BYTES = 4 * 1024;

/** The same bytes in a buffer. */
export function toBuffer(bytes: BodyBytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
}
