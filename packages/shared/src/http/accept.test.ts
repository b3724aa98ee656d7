import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../test/cpu-time.ts';
import fc from 'fast-check';
import { prefersNamed } from './accept.ts';

const prefers = (accept: string) =>
  prefersNamed(accept, 'application/problem+json', 'application/json');

describe('a caller prefers a media type that it names', () => {
  it.each([
    ['alone', 'application/problem+json'],
    ['in any case', 'Application/Problem+JSON'],
    ['as well as the other', 'application/json, application/problem+json'],
    ['above the other', 'application/json;q=0.5,application/problem+json;q=0.6'],
    ['with the other excluded', 'application/problem+json;q=0.001, application/json;q=0'],
    ['above all others', 'application/problem+json , */*;q=0.1'],
    [
      'below all others, but not below the other',
      '*/*, application/json;q=0.2, application/problem+json;q=0.2',
    ],
    ['with parameters', 'application/problem+json; charset=utf-8; q=1.000'],
    ['after a quoted comma', 'text/html;a="x, \\" ;q=0";q=0.3, application/problem+json'],
    ['after empty members', ',, ,application/problem+json'],
  ])('%s', (_case, accept) => {
    expect(prefers(accept)).toBe(true);
  });

  it.each([
    ['nothing is named', ''],
    ['only a range matches it', '*/*, application/*'],
    ['another type is named', 'application/problem+json-seq'],
    ['it is excluded', 'application/problem+json;q=0'],
    ['it is excluded with digits', 'application/problem+json;q=0.000, text/html'],
    ['the other is preferred', 'application/problem+json;q=0.8, application/json'],
    ['the group of the other is preferred', 'application/problem+json;q=0.8, application/*;q=0.9'],
    ['all others are preferred', '*/*, application/problem+json;q=0.9'],
    ['its weight is malformed', 'application/problem+json;q=high'],
    ['its weight is too large', 'application/problem+json;q=2'],
    ['it stands in quotes', 'text/html;a="application/problem+json"'],
    ['it comes after an open quote', 'text/html;a="x, application/problem+json'],
  ])('but not if %s', (_case, accept) => {
    expect(prefers(accept)).toBe(false);
  });

  it('in any order of the list, whatever else it contains', () => {
    const weight = fc.integer({ min: 0, max: 1000 });
    const text = (q: number) => (q / 1000).toFixed(3);
    const others = fc.array(
      fc.constantFrom('text/html', 'image/*;q=0.9', 'a/b;x="1,2";q=0.3', ''),
      {
        maxLength: 5,
      },
    );
    fc.assert(
      fc.property(weight, weight, others, fc.nat(10), (asked, other, more, at) => {
        const named = `application/problem+json;q=${text(asked)}`;
        const list = [...more, `application/json ; Q=${text(other)}`];
        list.splice(at % (list.length + 1), 0, named);
        expect(prefers(list.join(','))).toBe(asked > 0 && asked >= other);
      }),
    );
  });

  it('in time that grows with the length of the list alone', () => {
    for (const part of [' ', ',', ';', ';a', '; a =', '"', ';a="', '\t;q= ', ';a="\\"']) {
      const list = `${part.repeat(32_768 / part.length)}application/problem+json`;
      // A list of this length takes less than a millisecond; squared it would be many seconds.
      expect(cpuMsOf(() => prefers(list))).toBeLessThan(1000);
    }
  });
});
