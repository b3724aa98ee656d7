/**
 * What plain connections of callers, and all connections to upstreams, read into, one after the other: a
 * read is handled to its end before the next one begins, and what must stay is copied. It saves an
 * allocation a read, and a small message always lands in the same few lines of the cache.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** Views of small reads, as most are, are made once for each length. */
const MAX_KEPT_VIEW = 2048;
const views = new Array<Buffer | undefined>(MAX_KEPT_VIEW + 1).fill(undefined);

/** The first bytes of it, good until the next read. */
export function readBytes(length: number): Buffer {
  if (length > MAX_KEPT_VIEW) return READ_BUFFER.subarray(0, length);
  return (views[length] ??= READ_BUFFER.subarray(0, length));
}

/** The same bytes, good for as long as they are needed: a copy where the next read would overwrite them. */
export function toKeep(bytes: Buffer): Buffer {
  if (bytes.buffer !== READ_BUFFER.buffer) return bytes;
  // Not from Node's pool, of which a few bytes would hold eight kilobytes.
  const kept = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(kept);
  return kept;
}
