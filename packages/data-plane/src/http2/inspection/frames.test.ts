import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { watchMemory } from '@gateway/shared/test/memory';
import { encodedByNode, type SentFields } from '../../../test/http2-encoded.ts';
import { FLAG, FRAME, fieldBlock, frame } from '../../../test/http2-frames.ts';
import { FrameInspector } from './frames.ts';
import { InspectionError } from './inspection-error.ts';
import { OpenStreams } from './open-streams.ts';

const MAX_BLOCK_BYTES = 128 * 1024;

function inspectorOf(forward: (part: Buffer) => void): FrameInspector {
  const ignore = () => undefined;
  return new FrameInspector(MAX_BLOCK_BYTES, new OpenStreams(), forward, ignore, ignore);
}

/** Inspects bytes that arrive in parts of these sizes, repeated. */
function inspect(bytes: Buffer, sizes: readonly number[] = [bytes.length]) {
  const passed: Buffer[] = [];
  const inspector = inspectorOf((part) => passed.push(Buffer.from(part)));
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    // A copy, because the inspector may change what it gets.
    inspector.receive(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat(passed);
}

/** The streams that got a field which node:http2 refuses. */
function refusedStreams(passed: Buffer): number[] {
  const streams: number[] = [];
  for (let at = 24; at < passed.length; at += 9 + passed.readUIntBE(at, 3)) {
    const payload = passed.subarray(at + 9, at + 9 + passed.readUIntBE(at, 3));
    if (passed[at + 3] === FRAME.continuation && payload.includes('\nconnection\x01x')) {
      streams.push(passed.readUInt32BE(at + 5));
    }
  }
  return streams;
}

const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
/** Few names and many values, so that the encoder uses its table and evicts entries. */
const name = fc.constantFrom('x-a', 'x-bb', 'cookie', 'if-match', 'idempotency-key', 'x-long-name');
const valid = fc.oneof(
  fc.constantFrom('', 'a', 'k', '1234', 'a b', 'a\tb', '"r1"', 'x'.repeat(1500)),
  fc.stringMatching(/^[!-~\x80-\xff]{1,60}$/),
);
const invalid = fc.oneof(
  fc.constantFrom('k ', ' k', '\tk', 'k\t', ' ', 'x'.repeat(1500) + ' '),
  // oxlint-disable-next-line no-control-regex
  fc.stringMatching(/^[!-~\x80-\xff]{0,20}[\x00-\x08\x0a-\x1f\x7f][!-~\x80-\xff]{0,20}$/),
);
const fields = (value: fc.Arbitrary<string>) => fc.array(fc.tuple(name, value), { maxLength: 8 });
const requests = (value: fc.Arbitrary<string>) =>
  fc.array(fields(value), { minLength: 1, maxLength: 12 });

const isInvalid = (value: string) =>
  // oxlint-disable-next-line no-control-regex
  /[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/.test(value);

describe('the frames of a caller', () => {
  it('pass unchanged if they are valid, however they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(requests(valid), sizes, async (sent, parts) => {
        const bytes = await encodedByNode(sent);
        expect(inspect(bytes, parts).equals(bytes)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('are marked in each stream with an invalid field, and in no other', async () => {
    await fc.assert(
      fc.asyncProperty(requests(fc.oneof(valid, invalid)), sizes, async (sent, parts) => {
        const bytes = await encodedByNode(sent);
        const malformed = (one: SentFields) => one.some(([, value]) => isInvalid(value));
        const expected = sent.flatMap((one, index) => (malformed(one) ? [2 * index + 1] : []));
        expect(refusedStreams(inspect(bytes, parts))).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('are marked for exactly the bytes that a value must not have, each in a Huffman code', async () => {
    // Short codes around it, so that the encoder uses them for every byte.
    const values = Array.from(
      { length: 256 },
      (_none, byte) => 'e'.repeat(20) + String.fromCharCode(byte) + 'o'.repeat(20),
    );
    const bytes = await encodedByNode(values.map((one) => [['x-a', one]]));
    expect(bytes.includes('eeee')).toBe(false);
    const expected = values.flatMap((one, index) => (isInvalid(one) ? [2 * index + 1] : []));
    expect(expected.length).toBe(32);
    expect(refusedStreams(inspect(bytes))).toEqual(expected);
  });

  it('never cause another error than the one that ends the connection, whatever they are', async () => {
    const valid = await encodedByNode([[['x-a', 'b']], [['x-a', 'b']]]);
    const change = fc.tuple(
      fc.integer({ min: 24, max: valid.length - 1 }),
      fc.integer({ min: 0, max: 255 }),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), sizes, (changes, parts) => {
        const bytes = Buffer.from(valid);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          inspect(bytes, parts);
        } catch (error) {
          expect(error).toBeInstanceOf(InspectionError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it.each<[string, Buffer]>([
    ['a field block above the limit', endlessBlock()],
    ['a frame with fields above its limit', frame(FRAME.headers, 4, 1, Buffer.alloc(16_385))],
    ['a CONTINUATION frame without its start', frame(FRAME.continuation, 4, 1, fieldBlock([]))],
    ['a pushed request', frame(5, 4, 1, Buffer.from([0, 0, 0, 2]))],
    ['fields without a stream', frame(FRAME.headers, 4, 0, fieldBlock([['a', 'b']]))],
    ['more padding than payload', frame(FRAME.headers, 12, 1, Buffer.from([4, 0, 0]))],
  ])('end the connection: %s', (_case, bytes) => {
    expect(() => inspect(Buffer.concat([Buffer.alloc(24), bytes]))).toThrow(InspectionError);
  });

  it('pass while they are incomplete only up to the frame that is not', () => {
    const start = Buffer.concat([
      Buffer.alloc(24),
      frame(FRAME.data, 0, 1, Buffer.from('body')),
      frame(FRAME.headers, FLAG.endHeaders, 3, fieldBlock([['a', 'b']])).subarray(0, -1),
    ]);
    expect(inspect(start, [3]).length).toBe(24 + 9 + 4);
  });
});

describe('an incomplete frame with fields', () => {
  it('needs about as much memory as it has bytes if they arrive one by one', () => {
    const bytes = Buffer.concat([
      Buffer.alloc(24),
      frame(FRAME.headers, FLAG.endHeaders, 1, Buffer.alloc(16_384)).subarray(0, -1),
    ]);
    const memory = watchMemory();
    const inspectors = Array.from({ length: 40 }, () => {
      const inspector = inspectorOf(() => undefined);
      for (const byte of bytes) inspector.receive(Buffer.from([byte]));
      return inspector;
    });
    const { liveBytes } = memory.growth();
    // A list of the parts takes 2 MB for each. Other suites of this process change the memory too.
    expect(liveBytes / inspectors.length).toBeLessThan(500_000);
  });
});

function endlessBlock(): Buffer {
  const part = fieldBlock([['x', 'y'.repeat(16_000)]]);
  const more = Array.from({ length: 9 }, () => frame(FRAME.continuation, 0, 1, part));
  return Buffer.concat([frame(FRAME.headers, 0, 1, part), ...more]);
}
