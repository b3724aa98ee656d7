import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { cacheByFields } from '../message/repeated-fields.ts';
import { LastFields } from './last-fields.ts';

function setUp() {
  const clock = manualClock();
  const last = new LastFields(clock);
  let computed = 0;
  const compute = cacheByFields(() => {
    computed += 1;
    return {};
  });
  const request = (...fields: readonly string[]) => {
    const list = last.reuse([...fields]);
    compute(list);
    return list;
  };
  return { clock, last, request, computed: () => computed };
}

describe('the fields of a request that are those of the request before', () => {
  it('are the same list, of which everything is computed once', () => {
    const { request, computed } = setUp();
    const lists = Array.from({ length: 5 }, () => request('host', 'a', 'x', 'b'));
    expect(new Set(lists).size).toBe(1);
    // With the first one, which might have come only once, and when it came again.
    expect(computed()).toBe(2);
  });

  it.each<[string, readonly string[]]>([
    ['a value', ['host', 'a', 'x', 'c']],
    ['a name', ['host', 'a', 'y', 'b']],
    ['one field more', ['host', 'a', 'x', 'b', 'x', 'b']],
    ['one field less', ['host', 'a']],
    ['the order', ['x', 'b', 'host', 'a']],
  ])('and not if %s differs', (_what, other) => {
    const { request } = setUp();
    const first = request('host', 'a', 'x', 'b');
    expect(request(...other)).toEqual(other);
    expect(request(...other)).not.toBe(first);
    expect(request('host', 'a', 'x', 'b')).not.toBe(first);
  });

  it('are forgotten ten seconds after the first of them, in use or not', () => {
    const { clock, last, request } = setUp();
    const first = request('authorization', 'secret');
    clock.advance(9_999);
    last.check(clock.monotonicMs());
    expect(request('authorization', 'secret')).toBe(first);
    clock.advance(1);
    last.check(clock.monotonicMs());
    expect(request('authorization', 'secret')).not.toBe(first);
  });
});
