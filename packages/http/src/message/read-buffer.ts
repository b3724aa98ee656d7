import type { BodyBytes } from './body-bytes.ts';

/** Receives bytes that have arrived, valid until the call returns. */
export type TakeBytes = (bytes: Buffer) => void;

/**
 * The buffer that all connections read into, one after the other. A read is handled completely before the next one, and
 * bytes that must stay are copied. This saves an allocation for each read, and small messages stay in the same lines of
 * the CPU cache.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** For reads of up to this size, which are the most, the view of each length is created once. */
const MAX_CACHED_VIEW = 2048;
const views = new Array<Buffer | undefined>(MAX_CACHED_VIEW + 1).fill(undefined);

/** The first bytes of the buffer, valid until the next read. */
export function readBytes(length: number): Buffer {
  if (length > MAX_CACHED_VIEW) return READ_BUFFER.subarray(0, length);
  return (views[length] ??= READ_BUFFER.subarray(0, length));
}

/** The option `onread` of node:net: a socket that has it is read into the buffer, without a stream. */
export class DirectReads {
  readonly buffer = READ_BUFFER;
  #take: TakeBytes | undefined = undefined;

  readonly callback = (length: number): boolean => {
    this.#take?.(readBytes(length));
    return true;
  };

  /** Sets the reader. Bytes that arrive before there is one are dropped. */
  readBy(take: TakeBytes): void {
    this.#take = take;
  }
}

/** Returns bytes that stay valid: a copy if the next read would overwrite them. A string always stays valid. */
export function toStayValid(bytes: Buffer): Buffer;
export function toStayValid(bytes: BodyBytes): BodyBytes;
export function toStayValid(bytes: BodyBytes): BodyBytes {
  if (typeof bytes === 'string' || !isInReadBuffer(bytes)) return bytes;
  // Not from the pool of Node, because a few bytes of it would keep eight kilobytes alive.
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Whether the next read overwrites these bytes. */
export function isInReadBuffer(bytes: Buffer): boolean {
  return bytes.buffer === READ_BUFFER.buffer;
}
