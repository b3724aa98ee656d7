/** A body of unknown length, which is sent chunked. */
function streamOf(bytes: number): ReadableStream<Uint8Array> {
  return new Blob(['x'.repeat(bytes)]).stream();
}

/** The kinds of request bodies that retries distinguish. */
export type Body = 'none' | 'small' | 'kept_stream' | 'long_stream';
export const BODIES: Readonly<Record<Body, () => RequestInit & { duplex?: 'half' }>> = {
  none: () => ({}),
  small: () => ({ body: 'hello' }),
  kept_stream: () => ({ body: streamOf(1000), duplex: 'half' }),
  long_stream: () => ({ body: streamOf(200_000), duplex: 'half' }),
};
