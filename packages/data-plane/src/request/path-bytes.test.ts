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
    const character = String.fromCharCode(Number.parseInt(String(four ?? two), 16));
    return character <= '\xff' ? character : Buffer.from(character).toString('latin1');
  });
  return next === text ? text : repeatedly(next);
}
