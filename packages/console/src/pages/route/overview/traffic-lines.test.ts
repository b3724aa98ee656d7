import { describe, expect, it } from '@jest/globals';
import { classLines, durationLines, stepTimes, versionLines } from './traffic-lines.ts';

const ms = { p50_ms: 1, p95_ms: 2, p99_ms: 3 };
const at = (minute: number) => `2026-03-01T09:0${minute}:00.000Z`;
const step = (minute: number, requests: number, errors = 0) => ({
  at: at(minute),
  requests,
  errors,
  ...ms,
});
const group = (value: string | null, ...steps: ReturnType<typeof step>[]) => ({
  value,
  requests: 1,
  errors: 0,
  ...ms,
  steps,
});
const period = { from: at(1), to: at(4) };
const times = stepTimes(period, 60);

describe('the lines of the charts of a route', () => {
  it('have each step of the period, also the cut ones', () => {
    expect(times).toEqual([1, 2, 3].map((minute) => Date.parse(at(minute))));
    expect(stepTimes(period, 900)).toEqual([Date.parse(at(0))]);
  });

  it('count 0 in steps without requests, those that failed on top', () => {
    const groups = [group('2xx', step(1, 5), step(3, 7)), group('5xx', step(2, 1)), group(null)];
    expect(classLines(groups, times)).toEqual([
      { name: '5xx', color: 'failed', values: [0, 1, 0] },
      { name: 'no answer', color: 'other', values: [0, 0, 0] },
      { name: '2xx', color: 'answered', values: [5, 0, 7] },
    ]);
  });

  it('have a gap where there is no duration', () => {
    expect(durationLines([step(2, 1)], times)[1]).toMatchObject({
      name: 'p95',
      values: [null, 2, null],
    });
  });

  it('are of each version, also of one without requests', () => {
    const groups = [group('v2', step(1, 4, 1))];
    const lines = versionLines(groups, ['v1', 'v2'], times, (one) => one?.requests ?? null);
    expect(lines).toEqual([
      { name: 'v1', color: 'main', values: [null, null, null] },
      { name: 'v2', color: 'second', values: [4, null, null] },
    ]);
  });
});
