import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BodyBuffer } from './body-buffer.ts';
import { READ_BUFFER } from './read-buffer.ts';

function keep(chunks: readonly Uint8Array[]): BodyBuffer {
  const kept = new BodyBuffer();
  for (const chunk of chunks) kept.add(Buffer.from(chunk));
  return kept;
}

describe('BodyBuffer', () => {
  it('returns every byte in order, whatever the chunks', () => {
    const size = fc.oneof(fc.nat(20), fc.integer({ min: 4000, max: 5000 }), fc.nat(40_000));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 40 }), (sizes) => {
        let next = 0;
        const chunks = sizes.map((bytes) =>
          Buffer.from(Array.from({ length: bytes }, () => next++)),
        );
        const expected = Buffer.concat(chunks);
        expect(keep(chunks).whole().equals(expected)).toBe(true);
        expect(Buffer.concat(keep(chunks).parts()).equals(expected)).toBe(true);
      }),
    );
  });

  it.each([1, 5000])('keeps chunks of %i bytes that the next read overwrites', (bytes) => {
    const kept = new BodyBuffer();
    for (const value of [1, 2, 3]) {
      READ_BUFFER.fill(value, 0, bytes);
      kept.add(READ_BUFFER.subarray(0, bytes));
    }
    READ_BUFFER.fill(0);
    const expected = [1, 2, 3].map((value) => Buffer.alloc(bytes, value));
    expect(kept.whole().equals(Buffer.concat(expected))).toBe(true);
  });

  it('needs no more memory than its bytes and a page, also with chunks of one byte', () => {
    const bytes = 200_000;
    const kept = keep(Array.from({ length: bytes }, () => Buffer.from('x')));
    const buffers = new Set(kept.parts().map((part) => part.buffer));
    const heldBytes = [...buffers].reduce((sum, buffer) => sum + buffer.byteLength, 0);
    expect(kept.parts().length).toBeLessThan(20);
    expect(heldBytes).toBeLessThan(bytes + 16 * 1024 + 1);
  });

  it('does not copy a body that arrived in one chunk', () => {
    const only = Buffer.from('{"a":1}');
    const kept = new BodyBuffer();
    kept.add(only);
    expect(kept.whole()).toBe(only);
  });
});
