import { expect, it } from '@jest/globals';
import { shortTime } from './short-time.ts';

it.each([
  ['2030-03-01T09:30:17.123Z', '09:30:17Z'],
  ['2030-02-28T23:59:59.123Z', '02-28 23:59Z'],
  ['2029-12-31T09:30:17.123Z', '2029-12-31 09:30Z'],
  ['2030-09-01T09:30:17Z', '09-01 09:30Z'],
  ['never', 'never'],
])('%s is %s on 1 March 2030', (iso, short) => {
  expect(shortTime(iso, Date.UTC(2030, 2, 1, 12))).toBe(short);
});
