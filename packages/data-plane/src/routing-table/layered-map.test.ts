import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LayeredMap } from './layered-map.ts';

const KEYS = Array.from({ length: 201 }, (_, at) => String(at));
const key = fc.constantFrom(...KEYS);
const changes = fc.array(fc.tuple(key, fc.option(fc.nat(), { nil: undefined })), { maxLength: 30 });

describe('a layered map', () => {
  it('equals a plain map after any changes', () => {
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.nat(), { maxKeys: 150 }),
        fc.array(changes, { maxLength: 12 }),
        (start, rounds) => {
          const expected = new Map(Object.entries(start));
          let map = LayeredMap.of(new Map(expected));
          for (const round of rounds) {
            map = map.with(new Map(round));
            for (const [at, value] of new Map(round)) {
              if (value === undefined) expected.delete(at);
              else expected.set(at, value);
            }
          }
          expect(new Map(map)).toEqual(expected);
          expect([...map.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
          expect([...map.values()].toSorted()).toEqual([...expected.values()].toSorted());
          expect(map.size).toBe(expected.size);
          expect(KEYS.map((at) => map.get(at))).toEqual(KEYS.map((at) => expected.get(at)));
          expect(KEYS.map((at) => map.has(at))).toEqual(KEYS.map((at) => expected.has(at)));
        },
      ),
    );
  });

  it('is not changed by deriving another map', () => {
    const before = LayeredMap.of(new Map([['a', 1]]));
    const after = before.with(
      new Map([
        ['a', undefined],
        ['b', 2],
      ]),
    );
    expect([...before]).toEqual([['a', 1]]);
    expect([...after]).toEqual([['b', 2]]);
    expect(before.with(new Map())).toBe(before);
  });

  it('merges a layer when its size requires it, not at each change', () => {
    let map = LayeredMap.of(new Map(Array.from({ length: 10_000 }, (_, at) => [String(at), at])));
    let copied = 0;
    for (let round = 0; round < 1000; round += 1) {
      const next = map.with(new Map([[String(round), -round]]));
      // The last change is at the end, unless everything was copied.
      if ([...next.keys()].at(-1) !== String(round)) copied += 1;
      map = next;
    }
    expect(copied).toBe(2);
    expect(map.get('999')).toBe(-999);
  });
});
