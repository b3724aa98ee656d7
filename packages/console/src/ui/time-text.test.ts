import { expect, it } from '@jest/globals';
import { relativeTime } from './time-text.ts';

const NOW_MS = Date.parse('2026-11-24T12:00:00Z');

it.each([
  [-4000, 'just now', 'just now'],
  [-30_000, '30 seconds ago', '30 s ago'],
  [-3 * 60_000, '3 minutes ago', '3 min ago'],
  [-5 * 3_600_000, '5 hours ago', '5 h ago'],
  [2 * 86_400_000, 'in 2 days', 'in 2 d'],
])(
  'a time %s ms away is told in words, and shorter where there is little room',
  (ms, long, short) => {
    expect(relativeTime(NOW_MS + ms, NOW_MS)).toBe(long);
    expect(relativeTime(NOW_MS + ms, NOW_MS, true)).toBe(short);
  },
);
