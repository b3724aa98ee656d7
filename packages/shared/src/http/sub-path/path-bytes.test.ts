import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeToTheEnd } from './path-bytes.ts';

const PIECES = [
  '%',
  '%25',
  '%2',
  '5',
  '%41',
  '4',
  '1',
  '%u0041',
  '%u',
  '%U002',
  'u',
  'g',
  '%C3%A9',
];

describe('decodeToTheEnd', () => {
  it('decodes as often as there is something to decode', () => {
    const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 16 });
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('');
        expect(decoded(text)).toBe(repeatedly(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('counts the decodings that a byte needs', () => {
    const { depths, length } = decodeToTheEnd('a%41%2541%252541%u0041');
    expect([...depths.subarray(0, length)]).toEqual([0, 1, 2, 3, 1]);
  });

  it('decodes %uXXXX above U+00FF to UTF-8', () => {
    expect(Buffer.from(decoded('%u4e2d%uff0e%u0142'), 'latin1').toString()).toBe('中．ł');
  });

  it('decodes a surrogate like any other number, in as many steps as it needs', () => {
    const text = '%u%44%u0041%u0041%u0041';
    expect(decoded(text)).toBe(repeatedly(text));
  });

  it('decodes a path that is longer than the arrays that it keeps', () => {
    expect(decoded('%41'.repeat(50_000))).toBe('A'.repeat(50_000));
    expect(decoded('%42')).toBe('B');
  });

  it('takes a character that is no byte for one that nobody misreads', () => {
    expect(decoded('/\u012e\u012e/')).toBe('/xx/');
  });
});

function decoded(text: string): string {
  const { bytes, length } = decodeToTheEnd(text);
  return Buffer.from(bytes.subarray(0, length)).toString('latin1');
}

function repeatedly(text: string): string {
  const next = text.replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_escape, four, two) => {
    const code = Number.parseInt(String(four ?? two), 16);
    return code <= 0xff ? String.fromCharCode(code) : String.fromCharCode(...utf8Of(code));
  });
  return next === text ? text : repeatedly(next);
}

/** Also of a lone surrogate, for which Buffer has the bytes of U+FFFD. */
function utf8Of(code: number): readonly number[] {
  const last = 0x80 + (code % 64);
  if (code < 0x800) return [0xc0 + Math.floor(code / 64), last];
  return [0xe0 + Math.floor(code / 4096), 0x80 + (Math.floor(code / 64) % 64), last];
}
