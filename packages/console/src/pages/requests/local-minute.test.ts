import { expect, it } from '@jest/globals';
import { localMinute, timeOfMinute } from './local-minute.ts';

it('keeps a minute through a field and back, in any zone', () => {
  for (const at of ['2030-01-01T00:00:00.000Z', '2030-07-31T23:59:00.000Z']) {
    expect(timeOfMinute(localMinute(at))).toBe(at);
  }
});

it('has no time for an empty or a wrong text', () => {
  expect(localMinute(undefined)).toBe('');
  expect(localMinute('yesterday')).toBe('');
  expect(timeOfMinute('')).toBeUndefined();
});
