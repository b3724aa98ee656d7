import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageSizes } from './message-sizes.ts';

/** A message after its prefix; only `sent` bytes of it follow. */
function message(flags: number, length: number, sent = length): Buffer {
  const bytes = Buffer.alloc(5 + sent, 0xff);
  bytes[0] = flags;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

/** The body in parts of any sizes, some of them as texts. */
const inParts = (bodies: fc.Arbitrary<Buffer>) =>
  fc
    .tuple(bodies, fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())))
    .map(([body, cuts]) => {
      const parts: (Buffer | string)[] = [];
      let at = 0;
      for (const [length, isText] of [...cuts, [body.length, false] as const]) {
        const part = body.subarray(at, at + length);
        at += length;
        parts.push(isText ? part.toString('latin1') : part);
      }
      return { body, parts };
    });

const sizes = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 0xffff_ffff }));
const messages = fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), sizes));
const MAX = 12;

/** The plain reading of a whole body: the position after the prefix that announces too much; undefined: none does. */
function tooLargeAt(body: Buffer, maxBytes: number): number | undefined {
  for (let at = 0; at + 5 <= body.length;) {
    const length = body.readUInt32BE(at + 1);
    at += 5;
    if (length > maxBytes) return at;
    at += length;
  }
  return undefined;
}

describe('the sizes of messages', () => {
  it('are bounded as soon as a length has arrived, in any cuts', () => {
    const bodies = messages.map((all) =>
      Buffer.concat(all.map(([flags, length]) => message(flags, length, Math.min(length, 30)))),
    );
    fc.assert(
      fc.property(inParts(bodies), ({ body, parts }) => {
        const sizesOf = new MessageSizes(MAX);
        const limit = tooLargeAt(body, MAX);
        let end = 0;
        for (const part of parts) {
          end += part.length;
          const isOver = limit !== undefined && end >= limit;
          expect(sizesOf.fits(part)).toBe(!isOver);
          if (isOver) return;
        }
      }),
    );
  });

  it('may be exactly the limit, and the flags say nothing about them', () => {
    const body = Buffer.concat([message(0, MAX), message(1, 0), message(2, MAX), message(255, 1)]);
    expect(new MessageSizes(MAX).fits(body)).toBe(true);
    expect(new MessageSizes(MAX - 1).fits(body)).toBe(false);
    expect(new MessageSizes(0xffff_ffff).fits(message(0, 0xffff_ffff, 0))).toBe(true);
  });
});
