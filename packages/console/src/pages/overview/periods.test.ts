import { expect, it } from '@jest/globals';
import { overviewSearch, PERIODS } from './periods.ts';

it('reads a period from the URL, and shows what happens now for others', () => {
  expect(overviewSearch({ period: '24h' })).toEqual({ period: '24h' });
  expect(overviewSearch({ period: 'toString' })).toEqual({});
  expect(overviewSearch({ period: 7 })).toEqual({});
});

it.each(Object.entries(PERIODS))(
  '%s has at most 120 steps, rounded to minutes',
  (_name, period) => {
    expect((period.seconds + 120) / period.stepSeconds).toBeLessThanOrEqual(120);
  },
);
