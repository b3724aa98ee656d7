/**
 * The buffer that connections read into, one after the other: a read is handled completely before the next one begins,
 * and what must stay is copied. This saves an allocation for each read, and small messages stay in the same few lines
 * of the processor's cache.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** For reads up to this size, as most are, the view of each length is made once. */
const MAX_CACHED_VIEW = 2048;
const views = new Array<Buffer | undefined>(MAX_CACHED_VIEW + 1).fill(undefined);

/** The first bytes of the buffer, valid until the next read. */
export function readBytes(length: number): Buffer {
  if (length > MAX_CACHED_VIEW) return READ_BUFFER.subarray(0, length);
  return (views[length] ??= READ_BUFFER.subarray(0, length));
}

/** The same bytes in memory that stays valid: a copy if the next read would overwrite them. */
export function toStayValid(bytes: Buffer): Buffer {
  if (!isInReadBuffer(bytes)) return bytes;
  // Not from the pool of Node, of which a few bytes would keep eight kilobytes alive.
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

export function isInReadBuffer(bytes: Buffer): boolean {
  return bytes.buffer === READ_BUFFER.buffer;
}
