/**
 * What plain connections of callers, and all connections to upstreams, read into, one after the other: a
 * read is handled to its end before the next one begins, and what must stay is copied. It saves an
 * allocation a read, and a small message always lands in the same few lines of the cache.
 */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** The same bytes, good for as long as they are needed: a copy where the next read would overwrite them. */
export function toKeep(bytes: Buffer): Buffer {
  if (bytes.buffer !== READ_BUFFER.buffer) return bytes;
  // Not from Node's pool, of which a few bytes would hold eight kilobytes.
  const kept = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(kept);
  return kept;
}
