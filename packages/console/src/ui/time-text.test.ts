import { expect, it } from '@jest/globals';
import { relativeTime } from './time-text.ts';

const NOW_MS = Date.parse('2026-11-24T12:00:00Z');

it.each([
  [-4000, 'just now'],
  [-30_000, '30 s ago'],
  [-3 * 60_000, '3 min ago'],
  [-5 * 3_600_000, '5 h ago'],
  [2 * 86_400_000, 'in 2 d'],
])('a time %s ms away is told by its largest unit', (ms, text) => {
  expect(relativeTime(NOW_MS + ms, NOW_MS)).toBe(text);
});
