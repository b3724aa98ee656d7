import type { BodyBytes } from '../message/body-bytes.ts';
import { ERROR, FLAG, FRAME, FRAME_HEAD_BYTES } from './protocol.ts';

/** Up to this length a loop is faster than a call into C++. */
const MAX_LOOP = 64;

/** Writes the head of a frame (RFC 9113 section 4.1). Returns the position after it, like all functions here. */
export function writeFrameHead(
  out: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flags;
  return writeUint32(out, at + 5, stream);
}

export function writeUint32(out: Buffer, at: number, value: number): number {
  out[at] = value >>> 24;
  out[at + 1] = value >>> 16;
  out[at + 2] = value >>> 8;
  out[at + 3] = value;
  return at + 4;
}

export function writeUint16(out: Buffer, at: number, value: number): number {
  out[at] = value >>> 8;
  out[at + 1] = value;
  return at + 2;
}

/** Copies `bytes[start]` to `bytes[end - 1]`. */
export function writeBytes(
  out: Buffer,
  at: number,
  bytes: BodyBytes,
  start: number,
  end: number,
): number {
  if (typeof bytes === 'string') {
    const text = start === 0 && end === bytes.length ? bytes : bytes.slice(start, end);
    return at + out.write(text, at, 'latin1');
  }
  if (end - start > MAX_LOOP) return at + bytes.copy(out, at, start, end);
  for (let index = start; index < end; index += 1) out[at + index - start] = bytes[index] ?? 0;
  return at + end - start;
}

const NONE = Buffer.alloc(0);
const FIRST_BYTES = 64;
/** Above this size the memory is given up after the frames were written. */
const MAX_KEPT_BYTES = 256;

/**
 * The small frames that wait for the next write: replies, resets, windows. They are not subject to flow control, so
 * `length` is what a peer that does not read can make this end keep.
 */
export class ControlFrames {
  #memory = NONE;
  length = 0;

  /** Any frame; `values` are written as 32 bits each. */
  add(type: number, flags: number, stream: number, ...values: readonly number[]): void {
    const bytes = FRAME_HEAD_BYTES + 4 * values.length;
    const out = this.#room(bytes);
    let at = writeFrameHead(out, this.length, bytes - FRAME_HEAD_BYTES, type, flags, stream);
    for (const value of values) at = writeUint32(out, at, value);
    this.length = at;
  }

  reset(stream: number, code: number): void {
    this.add(FRAME.rstStream, 0, stream, code);
  }

  goAway(lastStream: number, code: number = ERROR.noError): void {
    this.add(FRAME.goAway, 0, 0, lastStream, code);
  }

  windowUpdate(stream: number, bytes: number): void {
    this.add(FRAME.windowUpdate, 0, stream, bytes);
  }

  /** Settings, in pairs of their number and value (RFC 9113 section 6.5.1). */
  settings(pairs: readonly (readonly [setting: number, value: number])[]): void {
    const length = 6 * pairs.length;
    const out = this.#room(FRAME_HEAD_BYTES + length);
    let at = writeFrameHead(out, this.length, length, FRAME.settings, 0, 0);
    for (const [setting, value] of pairs)
      at = writeUint32(out, writeUint16(out, at, setting), value);
    this.length = at;
  }

  ping(question: number): void {
    this.add(FRAME.ping, 0, 0, 0, question);
  }

  /** The reply to a ping, with its eight bytes. */
  pong(bytes: Buffer, start: number): void {
    const out = this.#room(FRAME_HEAD_BYTES + 8);
    const at = writeFrameHead(out, this.length, 8, FRAME.ping, FLAG.ack, 0);
    this.length = at + bytes.copy(out, at, start, start + 8);
  }

  /** Bytes that are sent before all frames. */
  bytes(bytes: Buffer): void {
    this.length += bytes.copy(this.#room(bytes.length), this.length);
  }

  /** Copies the frames and forgets them. Returns the position after them. */
  takeInto(out: Buffer, at: number): number {
    const end = at + this.#memory.copy(out, at, 0, this.length);
    this.length = 0;
    if (this.#memory.length > MAX_KEPT_BYTES) this.#memory = NONE;
    return end;
  }

  #room(bytes: number): Buffer {
    const needed = this.length + bytes;
    if (needed > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * needed));
      this.#memory.copy(larger, 0, 0, this.length);
      this.#memory = larger;
    }
    return this.#memory;
  }
}
