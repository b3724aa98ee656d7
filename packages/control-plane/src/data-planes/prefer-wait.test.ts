import { describe, expect, it } from '@jest/globals';
import { preferredWait } from './prefer-wait.ts';

describe('Prefer: wait', () => {
  it.each([
    ['wait=5', 5],
    ['WAIT = 5', 5],
    ['wait="5"', 5],
    ['respond-async, wait=0; foo=bar', 0],
    ['handling=lenient;x="a, wait=9", wait=7', 7],
    ['wait=3, wait=20', 3],
    ['wait=1000000000', 1_000_000_000],
    ['wait=99999999999999999999', 2 ** 31],
  ])('is parsed from %s', (field, seconds) => {
    expect(preferredWait(field)).toBe(seconds);
  });

  it.each([
    [undefined],
    [''],
    ['respond-async'],
    ['wait'],
    ['wait='],
    ['wait=-1'],
    ['wait=1.5'],
    ['wait=1e9'],
    ["wait='5'"],
    ['wait=abc'],
    ['wait="5'],
    ['wait=abc, wait=5'],
    ['await=5'],
    ['x="wait=5"'],
  ])('is ignored in %s', (field) => {
    expect(preferredWait(field)).toBeUndefined();
  });
});
