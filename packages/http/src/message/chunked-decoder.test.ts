import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ChunkedDecoder } from './chunked-decoder.ts';

const LIMITS = { maxHeaderBytes: 1000, maxHeaderLines: 10 };

/** The text in chunks of these sizes, repeated. */
function encode(text: string, sizes: readonly number[]): string {
  let coded = '';
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const piece = text.slice(at, at + (sizes[turn % sizes.length] ?? 1));
    coded += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    at += piece.length;
  }
  return `${coded}0\r\n\r\n`;
}

/** Decodes a text in reads of these sizes, repeated. */
function decode(text: string, reads: readonly number[], strict = true) {
  const bytes = Buffer.from(text, 'latin1');
  let body = '';
  let pieces = 0;
  let trailers: readonly string[] | undefined;
  const decoder = new ChunkedDecoder(strict, LIMITS, (piece, last, fields) => {
    pieces += 1;
    trailers = fields;
    body += piece.toString('latin1');
    // The end comes once, with the last piece.
    expect(last).toBe(decoder.complete);
  });
  let at = 0;
  for (let turn = 0; at < bytes.length && !decoder.complete; turn += 1) {
    const read = bytes.subarray(at, at + (reads[turn % reads.length] ?? 1));
    const used = decoder.feed(read);
    if (used === undefined) return { refused: true, body, pieces, used: at };
    at += used;
  }
  return { refused: false, complete: decoder.complete, body, pieces, used: at, trailers };
}

const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });

describe('a chunked body', () => {
  it('is the same for any chunks and any reads', () => {
    const text = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 3000 });
    fc.assert(
      fc.property(text, sizes, sizes, fc.string({ maxLength: 20 }), (body, cuts, reads, after) => {
        const coded = encode(body, cuts);
        const result = decode(coded + after, reads);
        expect(result).toMatchObject({ refused: false, complete: true, body });
        // The rest belongs to the next message.
        expect(result.used).toBe(coded.length);
      }),
    );
  });

  it('of chunks of one byte is passed on in few pieces', () => {
    const result = decode(encode('x'.repeat(10_000), [1]), [16_384]);
    expect(result).toMatchObject({ complete: true, body: 'x'.repeat(10_000) });
    expect(result.pieces).toBeLessThan(10);
  });

  it('is accepted or refused independently of the reads', () => {
    const part = fc.constantFrom('5', '\r\n', '\n', '\r', 'hello', '0', ';a', ' ', 'X: 1', 'g');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), sizes, (parts, reads) => {
        const text = parts.join('');
        const whole = decode(text, [text.length || 1]);
        const cut = decode(text, reads);
        expect({ refused: cut.refused }).toEqual({ refused: whole.refused });
        if (!whole.refused) expect(cut.body).toBe(whole.body);
        expect(cut.trailers).toEqual(whole.trailers);
      }),
    );
  });

  it('is refused if its extensions are too large together', () => {
    const chunk = `1;${'a'.repeat(1000)}\r\nx\r\n`;
    expect(decode(`${chunk.repeat(10)}0\r\n\r\n`, [4096])).toMatchObject({ complete: true });
    expect(decode(`${chunk.repeat(20)}0\r\n\r\n`, [4096])).toMatchObject({ refused: true });
  });

  it.each([
    ['X-Sum: 1\r\ngrpc-status:0 \t\r\n', ['X-Sum', '1', 'grpc-status', '0']],
    ['X-Empty:\r\nX-Bytes: \xff\xe9\r\n', ['X-Empty', '', 'X-Bytes', '\xff\xe9']],
    ['', undefined],
  ])('has the trailers %j, in any reads', (lines, trailers) => {
    fc.assert(
      fc.property(fc.boolean(), sizes, (strict, reads) => {
        const result = decode(`5\r\nhello\r\n0\r\n${lines}\r\n`, reads, strict);
        expect(result).toMatchObject({ complete: true, body: 'hello', trailers });
      }),
    );
  });

  it.each([
    [`X: ${'a'.repeat(993)}\r\n`, `X: ${'a'.repeat(994)}\r\n`],
    ['X: 1\r\n'.repeat(10), 'X: 1\r\n'.repeat(11)],
  ])('has trailers up to the limits of a head', (most, more) => {
    for (const read of [1, 7, 4096]) {
      expect(decode(`0\r\n${most}\r\n`, [read])).toMatchObject({ complete: true });
      expect(decode(`0\r\n${more}\r\n`, [read])).toMatchObject({ refused: true });
    }
  });

  it('drops trailers of a server that frame the message', () => {
    const text = '0\r\nX-A: 1\r\nContent-Length: 5\r\ntransfer-encoding: gzip\r\n\r\n';
    expect(decode(text, [100], false).trailers).toEqual(['X-A', '1']);
    expect(decode('0\r\nContent-Length: 5\r\n\r\n', [100], false).trailers).toBeUndefined();
  });

  it.each(['5 \r\nhello\r\n0\r\n\r\n', '0\r\nContent-Length: 5\r\n\r\n'])(
    'is refused from a client and accepted from a server: %j',
    (text) => {
      expect(decode(text, [100], true).refused).toBe(true);
      expect(decode(text, [100], false)).toMatchObject({ refused: false, complete: true });
    },
  );
});
