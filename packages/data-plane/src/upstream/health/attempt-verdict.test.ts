import { describe, expect, it } from '@jest/globals';
import type { CompiledRoute } from '../../routing-table/routing-table.ts';
import { ATTEMPT_ERRORS, type AttemptError } from '../attempt-end.ts';
import { attemptVerdict, hadFairTime } from './attempt-verdict.ts';

const failed = (name: AttemptError['name'], sent = true) => ({ error: { name, sent } });
const answered = (status: number) => ({ response: { status, fields: [] } });

describe('the verdict of an attempt on its upstream', () => {
  it.each([
    [answered(200), 'good'],
    [answered(404), 'good'],
    [answered(500), 'good'],
    [answered(502), 'bad'],
    [answered(503), 'bad'],
    [answered(504), 'bad'],
    [failed('reset'), 'bad'],
    [failed('invalid_response'), 'bad'],
    [failed('attempt_timeout'), 'timed_out'],
    [failed('attempt_timeout', false), 'unreachable'],
    [failed('connect_refused', false), 'unreachable'],
    [failed('cancelled'), 'nothing'],
    [failed('request_body'), 'nothing'],
    [failed('unsendable', false), 'nothing'],
  ] as const)('%j: %s', (outcome, verdict) => {
    expect(attemptVerdict(outcome, true)).toBe(verdict);
  });

  it.each(Object.entries(ATTEMPT_ERRORS))('%s: a fault of the %s', (name, fault) => {
    for (const sent of [true, false]) {
      const verdict = attemptVerdict(failed(name as AttemptError['name'], sent), true);
      if (fault !== 'upstream') expect(verdict).toBe('nothing');
      else expect(['bad', 'timed_out', 'unreachable']).toContain(verdict);
    }
  });

  it('says only that it may hang if it timed out after too little time', () => {
    expect(attemptVerdict(failed('attempt_timeout'), false)).toBe('maybe_hung');
    expect(attemptVerdict(failed('attempt_timeout', false), false)).toBe('maybe_hung');
    expect(attemptVerdict(failed('reset'), false)).toBe('bad');
    expect(attemptVerdict(answered(503), false)).toBe('bad');
  });

  it('counts a timeout only after half of the time that the route gives an attempt', () => {
    const route = (perAttemptTimeoutMs: number | undefined) =>
      ({ settings: { timeout_ms: 1000 }, retry: { perAttemptTimeoutMs } }) as CompiledRoute;
    expect([500, 499].map((ms) => hadFairTime(ms, route(undefined), 0))).toEqual([true, false]);
    expect([100, 99].map((ms) => hadFairTime(ms, route(200), 0))).toEqual([true, false]);
    expect(hadFairTime(500, route(5000), 0)).toBe(true);
  });

  it('counts a timeout only after the time that a short check gives the upstream', () => {
    const route = { settings: { timeout_ms: 1 }, retry: {} } as CompiledRoute;
    expect([266, 265].map((ms) => hadFairTime(ms, route, 266))).toEqual([true, false]);
  });
});
