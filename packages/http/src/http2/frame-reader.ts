import { ERROR, FRAME_HEAD_BYTES, MAX_FRAME_BYTES, PREFACE } from './protocol.ts';

/**
 * Takes a whole frame: the payload is `bytes[start]` to `bytes[end - 1]`. It is valid until the call returns if it is in
 * `READ_BUFFER`, else it stays valid.
 */
export type FrameHandler = (
  type: number,
  flags: number,
  stream: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

const NONE = Buffer.alloc(0);
const FIRST_BYTES = 512;

/** Cuts what a peer sends into frames (RFC 9113 section 4.1), however it arrives. It holds at most one incomplete frame. */
export class FrameReader {
  readonly #handler: FrameHandler;
  /** How much of the preface has arrived. */
  #preface: number;
  /** The start of an incomplete frame. */
  #part = NONE;
  #partBytes = 0;
  /** Nothing is read after this was set. */
  isStopped = false;

  /** @param expectsPreface whether the peer is a client */
  constructor(handler: FrameHandler, expectsPreface: boolean) {
    this.#handler = handler;
    this.#preface = expectsPreface ? 0 : PREFACE.length;
  }

  /**
   * Reads bytes, which need be valid only until the call returns.
   *
   * @returns the error of the connection, or NO_ERROR
   */
  read(bytes: Buffer): number {
    let at = 0;
    if (this.#preface < PREFACE.length) {
      at = this.#readPreface(bytes);
      if (at === -1) return ERROR.protocolError;
    }
    if (this.#partBytes > 0) {
      at = this.#complete(bytes, at);
      if (at === -1) return ERROR.frameSizeError;
    }
    const { length } = bytes;
    while (length - at >= FRAME_HEAD_BYTES && !this.isStopped) {
      const end = at + FRAME_HEAD_BYTES + payloadBytes(bytes, at);
      if (end - at > FRAME_HEAD_BYTES + MAX_FRAME_BYTES) return ERROR.frameSizeError;
      if (end > length) break;
      this.#frame(bytes, at, end);
      at = end;
    }
    if (at < length && !this.isStopped) this.#keep(bytes, at, length);
    return ERROR.noError;
  }

  /** Returns the position after the preface, or -1 if this is none. */
  #readPreface(bytes: Buffer): number {
    const count = Math.min(PREFACE.length - this.#preface, bytes.length);
    const isPreface = PREFACE.compare(bytes, 0, count, this.#preface, this.#preface + count) === 0;
    this.#preface += count;
    return isPreface ? count : -1;
  }

  /** Completes the frame that has begun. Returns the position after it, or -1 if it is too large. */
  #complete(bytes: Buffer, start: number): number {
    let at = start;
    if (this.#partBytes < FRAME_HEAD_BYTES) {
      at = this.#keep(bytes, at, at + FRAME_HEAD_BYTES - this.#partBytes);
      if (this.#partBytes < FRAME_HEAD_BYTES) return at;
    }
    const payload = payloadBytes(this.#part, 0);
    if (payload > MAX_FRAME_BYTES) return -1;
    const needed = FRAME_HEAD_BYTES + payload;
    at = this.#keep(bytes, at, at + needed - this.#partBytes, needed);
    if (this.#partBytes < needed) return at;
    const part = this.#part;
    this.#partBytes = 0;
    // No other frame uses its memory, because what waits of a body keeps it.
    this.#part = NONE;
    this.#frame(part, 0, needed);
    return at;
  }

  /** Returns the position after the bytes that were kept. */
  #keep(bytes: Buffer, start: number, end: number, needed = 0): number {
    const count = Math.min(end, bytes.length) - start;
    const total = Math.max(this.#partBytes + count, needed);
    if (total > this.#part.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, total));
      this.#part.copy(larger, 0, 0, this.#partBytes);
      this.#part = larger;
    }
    bytes.copy(this.#part, this.#partBytes, start, start + count);
    this.#partBytes += count;
    return start + count;
  }

  #frame(bytes: Buffer, at: number, end: number): void {
    const type = bytes[at + 3] ?? 0;
    const flags = bytes[at + 4] ?? 0;
    const stream = readUint31(bytes, at + 5);
    this.#handler(type, flags, stream, bytes, at + FRAME_HEAD_BYTES, end);
  }
}

function payloadBytes(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

/** An integer of 31 bits; the bit before them is reserved. */
export function readUint31(bytes: Buffer, at: number): number {
  return readUint32(bytes, at) & 0x7fff_ffff;
}

export function readUint32(bytes: Buffer, at: number): number {
  const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16);
  return (high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}
