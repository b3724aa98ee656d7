import { expect, test } from '@jest/globals';
import { coarseClock } from './coarse-clock.ts';

test('a clock that nobody read for a minute is not a minute behind', () => {
  let exactMs = 1_000_000;
  const nowMs = coarseClock(() => exactMs, 10_000);
  exactMs += 60_000;
  expect(nowMs()).toBe(1_060_000);
});

test('a reading stays the same until it is old, so that nothing is drawn anew', () => {
  let exactMs = 1_000_000;
  const nowMs = coarseClock(() => exactMs, 10_000);
  exactMs += 9_999;
  expect(nowMs()).toBe(1_000_000);
  exactMs += 1;
  expect(nowMs()).toBe(1_010_000);
});

test('a clock that is set back is followed', () => {
  let exactMs = 1_000_000;
  const nowMs = coarseClock(() => exactMs, 10_000);
  exactMs -= 60_000;
  expect(nowMs()).toBe(940_000);
});
