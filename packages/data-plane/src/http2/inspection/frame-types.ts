/** Frame types and flags of RFC 9113 sections 6 and 7. */
export const DATA = 0;
export const HEADERS = 1;
export const PRIORITY = 2;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

export const ACK = 0x1;
export const END_STREAM = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const WITH_PRIORITY = 0x20;

/** The size of the head of each frame. */
export const HEAD_BYTES = 9;
/** The largest payload: the default of SETTINGS_MAX_FRAME_SIZE, which the gateway does not change. */
export const MAX_FRAME_BYTES = 16_384;

/** The parts of the head of the frame at a position (RFC 9113 section 4.1). */
export function payloadBytes(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

export function typeAt(bytes: Buffer, at: number): number {
  return bytes[at + 3] ?? 0;
}

export function flagsAt(bytes: Buffer, at: number): number {
  return bytes[at + 4] ?? 0;
}

/** 0 is the connection. */
export function streamAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at + 5) & 0x7fffffff;
}
