import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runAtOnce } from '../pace.ts';
import { splitJson } from './split-json.ts';

const NAMES = new Set(['routes', 'tokens']);

/** What the parts parse to, put together again. */
function parseParts(text: string): unknown {
  const bytes = Buffer.from(text);
  const { rest, arrays } = runAtOnce(splitJson(bytes, NAMES));
  const whole = JSON.parse(rest) as Record<string, unknown>;
  for (const [name, ranges] of arrays) {
    expect(whole[name]).toEqual([]);
    whole[name] = ranges.map(([start, end]): unknown =>
      JSON.parse(bytes.toString('utf8', start, end)),
    );
  }
  return whole;
}

describe('splitJson', () => {
  it('gives parts that parse to the same as the whole', () => {
    const whole = fc.record(
      {
        version: fc.jsonValue(),
        routes: fc.array(fc.jsonValue()),
        nested: fc.record({ routes: fc.array(fc.jsonValue()) }),
        tokens: fc.array(fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(whole, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(parseParts(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    '{"routes":[1,]}',
    '{"routes":[\u0001]}',
    '{"routes":[,1]}',
    '{"routes":[1,,2]}',
    '{"routes":[1 2]}',
    '{"routes":[{]}',
    '{"routes":["a]}',
    '{"routes":[1',
    '{"routes":[1]',
    '{"routes":[1]]}',
    '',
  ])('gives a part that is not JSON for %s', (text) => {
    expect(() => parseParts(text)).toThrow(SyntaxError);
  });

  it('takes one step for each element, so that a caller can pause between them', () => {
    const steps = splitJson(Buffer.from('{"routes":[1,2,3],"tokens":[4,5]}'), NAMES);
    expect([...steps]).toHaveLength(3);
  });
});
