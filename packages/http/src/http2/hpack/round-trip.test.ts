import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Decoder } from './decoder.ts';
import { Encoder, MAX_FIELD_OVERHEAD } from './encoder.ts';
import { KIND } from './field-kinds.ts';

const LIMITS = { maxListBytes: 1_000_000, maxFields: 10_000 };

type Fields = readonly (readonly [name: string, value: string])[];

function encode(encoder: Encoder, fields: Fields, status?: number): Buffer {
  const size = fields.flat().reduce((sum, text) => sum + text.length + MAX_FIELD_OVERHEAD, 64);
  const out = Buffer.alloc(size);
  let at = encoder.begin(out, 0);
  if (status !== undefined) at = encoder.status(out, at, status);
  for (const [index, [name, value]] of fields.entries()) {
    at = encoder.field(out, at, name, value, index);
  }
  return out.subarray(0, at);
}

function decode(decoder: Decoder, block: Buffer) {
  const fields: [string, string][] = [];
  const kinds: number[] = [];
  const error = decoder.decode(block, 0, block.length, {
    field(kind, name, value) {
      fields.push([name, value]);
      kinds.push(kind);
    },
  });
  return { error, fields, kinds };
}

const NAMES = ['accept', 'Content-Type', 'content-length', 'date', 'etag', 'set-cookie', 'X-Id'];
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES, 'authorization', 'cache-control') },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-zA-Z0-9-]{1,20}$/) },
);
const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('', 'no-cache', 'gzip, deflate', '200', 'a'.repeat(300)),
  },
  { weight: 2, arbitrary: fc.stringMatching(/^[\x21-\x7e\x80-\xff]{0,200}$/) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 5000 }).map((size) => 'v'.repeat(size)) },
);
const block = fc.record({
  status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
  limit: fc.option(fc.constantFrom(0, 1, 100, 1000, 4096, 100_000), { nil: undefined }),
  fields: fc.array(fc.tuple(name, value), { maxLength: 20 }),
});
/** Fields of the connection are not sent. */
const DROPPED = new Set(['te', 'connection', 'upgrade', 'keep-alive']);

describe('HPACK', () => {
  it('decodes what it has encoded, block after block, with any limit of the table', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 30 }), (blocks) => {
        const encoder = new Encoder();
        const decoder = new Decoder(LIMITS);
        for (const { status, limit, fields } of blocks) {
          if (limit !== undefined) encoder.limit(limit);
          const sent = fields.filter(([text]) => !DROPPED.has(text.toLowerCase()));
          const expected: [string, string][] = sent.map(([text, v]) => [text.toLowerCase(), v]);
          if (status !== undefined) expected.unshift([':status', String(status)]);
          const decoded = decode(decoder, encode(encoder, sent, status));
          expect([decoded.error, decoded.fields]).toEqual([0, expected]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('sends a block that repeats with one byte for each field', () => {
    const encoder = new Encoder();
    const fields: Fields = [
      ['content-type', 'application/json'],
      ['x-request-id', 'one'],
    ];
    encode(encoder, fields, 200);
    expect(encode(encoder, fields, 200)).toHaveLength(3);
  });

  it('never adds a secret to a table, and forbids others to do so', () => {
    for (const secret of ['authorization', 'Set-Cookie']) {
      const encoder = new Encoder();
      const first = encode(encoder, [[secret, 'secret']]);
      expect((first[0] ?? 0) & 0xf0).toBe(0x10);
      expect(encode(encoder, [[secret, 'secret']])).toEqual(first);
    }
  });

  it('stops to add values of a name that do not repeat, and starts again when they do', () => {
    const encoder = new Encoder();
    const adds = (text: string) => ((encode(encoder, [['x-id', text]])[0] ?? 0) & 0xc0) === 0x40;
    const first = Array.from({ length: 10 }, (_none, index) => adds(String(index)));
    expect(first.filter(Boolean)).toHaveLength(4);
    expect([adds('same'), adds('same')]).toEqual([false, true]);
    expect(encode(encoder, [['x-id', 'same']])).toHaveLength(1);
  });

  it('keeps no value that is larger than its table, and stays in step', () => {
    const encoder = new Encoder();
    const decoder = new Decoder(LIMITS);
    encoder.limit(64);
    for (const text of ['a'.repeat(100), 'b', 'c'.repeat(20), 'b']) {
      expect(decode(decoder, encode(encoder, [['x-name', text]])).fields).toEqual([
        ['x-name', text],
      ]);
    }
  });
});

describe('the decoder', () => {
  it.each([
    ['the size of all fields', { maxListBytes: 200, maxFields: 1000 }],
    ['their number', { maxListBytes: 100_000, maxFields: 5 }],
  ])('stops within a block that exceeds %s', (_limit, limits) => {
    const decoder = new Decoder(limits);
    // An entry of the table, and one byte for each repetition.
    const bomb = Buffer.concat([
      encode(new Encoder(), [['x-a', 'b'.repeat(50)]]),
      Buffer.alloc(1000, 0xbe),
    ]);
    const { error, fields } = decode(decoder, bomb);
    expect(error).toBe(11);
    expect(fields.length).toBeLessThan(6);
  });

  it('never throws, and never reads beyond a block, whatever the bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, bytes, (before, after) => {
        const decoder = new Decoder(LIMITS);
        const whole = Buffer.concat([before, Buffer.alloc(20, 0x82), after]);
        const { error, fields } = decode(decoder, whole.subarray(0, before.length));
        const again = decode(new Decoder(LIMITS), Buffer.from(before));
        expect({ error, fields }).toEqual({ error: again.error, fields: again.fields });
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['x-a', 'v ', KIND.invalid],
    ['x-a', '\tv', KIND.invalid],
    ['x-a', 'a\0b', KIND.invalid],
    ['X-A', 'v', KIND.invalid],
    ['x a', 'v', KIND.invalid],
    ['', 'v', KIND.invalid],
    ['x-a', 'a\tb\xff', KIND.regular],
    ['te', 'trailers', KIND.regular],
    ['te', 'gzip', KIND.invalid],
    ['te', '', KIND.invalid],
    ['host', 'a/b', KIND.invalid],
    [':authority', 'user@a', KIND.invalid],
    [':authority', '[::1]:80', KIND.authority],
    ['transfer-encoding', 'chunked', KIND.invalid],
    [':other', 'v', KIND.invalid],
  ])(
    'finds what the field %j: %j is, as a literal and from the table',
    (text, fieldValue, kind) => {
      const literal = (string: string) => [string.length, ...Buffer.from(string, 'latin1')];
      const block = Buffer.from([0x40, ...literal(text), ...literal(fieldValue), 0xbe]);
      expect(decode(new Decoder(LIMITS), block)).toMatchObject({ error: 0, kinds: [kind, kind] });
    },
  );
});
