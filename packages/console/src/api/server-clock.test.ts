import { describe, expect, it } from '@jest/globals';
import { createServerClock } from './server-clock.ts';

describe('the time of the server', () => {
  const browserMs = Date.parse('2026-03-01T10:00:00Z');
  const learnt = (date: string | null): string => {
    const clock = createServerClock(() => browserMs);
    clock.learn(date);
    return new Date(clock.nowMs()).toISOString();
  };

  it('is that of its answers if the clock of the browser is wrong', () => {
    expect(learnt('Sun, 01 Mar 2026 09:55:00 GMT')).toBe('2026-03-01T09:55:00.000Z');
    expect(learnt('Sun, 01 Mar 2026 10:05:00 GMT')).toBe('2026-03-01T10:05:00.000Z');
  });

  it('is that of the browser if both differ by seconds, or if an answer does not say', () => {
    expect(learnt('Sun, 01 Mar 2026 09:59:58 GMT')).toBe('2026-03-01T10:00:00.000Z');
    expect(learnt(null)).toBe('2026-03-01T10:00:00.000Z');
    expect(learnt('yesterday')).toBe('2026-03-01T10:00:00.000Z');
  });
});
