/*
 * What a server of the other version of HTTP sends first. Neither version can be read as the other one, so what arrives is
 * invalid. That it is the other version says what to change.
 */

/** Bytes before the payload of a frame (RFC 9113 section 4.1). */
const FRAME_HEAD_BYTES = 9;
const SETTINGS = 4;
const GOAWAY = 7;

/** Whether what a server sends first begins with a frame of HTTP/2 that belongs to the connection. */
export function beginsAsHttp2(bytes: Buffer): boolean {
  if (bytes.length < FRAME_HEAD_BYTES || bytes[0] !== 0) return false;
  return (bytes[3] === SETTINGS || bytes[3] === GOAWAY) && bytes.readUInt32BE(5) === 0;
}

/** Whether what a server sends first begins with the status line of HTTP/1. */
export function beginsAsHttp1(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 7) === 'HTTP/1.';
}
