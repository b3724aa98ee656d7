/** A field block cannot be decoded, so the connection cannot continue (RFC 9113 section 4.3). */
export class HpackError extends Error {
  override readonly name = 'HpackError';
}
