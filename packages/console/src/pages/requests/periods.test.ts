import { expect, it } from '@jest/globals';
import { isFixed, periodEnds } from './periods.ts';

const NOW = Date.UTC(2030, 0, 31);
const HOUR = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

it('ends now, unless the URL says otherwise', () => {
  expect(periodEnds({}, NOW)).toEqual({ fromMs: NOW - 24 * HOUR, toMs: NOW });
  expect(periodEnds({ period: '1h' }, NOW)).toEqual({ fromMs: NOW - HOUR, toMs: NOW });
  const fixed = { since: iso(NOW - 5 * HOUR), until: iso(NOW - 4 * HOUR) };
  expect(periodEnds(fixed, NOW)).toEqual({ fromMs: NOW - 5 * HOUR, toMs: NOW - 4 * HOUR });
  expect([isFixed(fixed), isFixed({ period: '1h' })]).toEqual([true, false]);
});

it('begins 30 days before a fixed end', () => {
  const { fromMs, toMs } = periodEnds({ until: iso(NOW - HOUR) }, NOW);
  expect(toMs - fromMs).toBe(30 * 24 * HOUR);
  expect(periodEnds({ since: 'nonsense' }, NOW).toMs).toBe(NOW);
});
