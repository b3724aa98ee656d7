import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GRPC_STATUS } from '@gateway/shared/http/grpc';
import { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import type { CompiledRoute } from '../routing-table/routing-table.ts';
import {
  ATTEMPT_ERRORS,
  attemptDetail,
  attemptVerdict,
  endWait,
  hadFairTime,
  type AttemptEnd,
  type AttemptError,
} from './attempt-end.ts';

const PAGE = new URL('../../../../docs/use/policies/upstream-health.md', import.meta.url);
const ROWS = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the table of docs/use/policies/upstream-health.md', () => {
  it.each(Object.entries(ATTEMPT_ERRORS))(
    'says of %s that it is a fault of the %s',
    (name, fault) => {
      const faults = ROWS.filter((cells) => cells[2]?.includes(`\`${name}\``)).map(
        (cells) => cells[3],
      );
      expect(faults).toContain(fault);
    },
  );
});

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

  it.each(
    Object.entries(GRPC_STATUS).map(([name, grpcStatus]) => {
      const verdict =
        name === 'UNAVAILABLE' ? 'bad' : name === 'DEADLINE_EXCEEDED' ? 'nothing' : 'good';
      return [name, grpcStatus, verdict] as const;
    }),
  )('of a gRPC call that ended with %s (%i): %s', (_name, grpcStatus, verdict) => {
    expect(attemptVerdict({ ...answered(200), grpcStatus }, true)).toBe(verdict);
    expect(attemptVerdict({ ...answered(503), grpcStatus }, true)).toBe('bad');
  });

  it('names what the attempt failed with', () => {
    expect(attemptDetail({ ...answered(200), grpcStatus: 14 })).toBe('grpc_unavailable');
    expect(attemptDetail({ ...answered(503), grpcStatus: 14 })).toBe('status_503');
    expect(attemptDetail(failed('reset'))).toBe('reset');
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

/** What the limit learned from the outcome of an attempt that took 40 ms. */
function learned(outcome: AttemptEnd, callerEnded?: boolean): readonly unknown[] {
  const calls: unknown[] = [];
  const limit = new AdaptiveLimit(() => 0);
  limit.end = (latencyMs) => void calls.push('end', latencyMs);
  limit.abandon = (waitedMs) => void calls.push('abandon', waitedMs);
  endWait(limit, outcome, 40, 1000, callerEnded);
  return calls;
}

describe('the adaptive limit of a service', () => {
  it.each([200, 304, 404, 401])('learns from the latency of a response with %i', (status) => {
    expect(learned(answered(status))).toEqual(['end', 40]);
  });

  it.each([429, 500, 502, 503])('learns nothing from a response with %i', (status) => {
    expect(learned(answered(status))).toEqual(['end', undefined]);
  });

  it('learns from gRPC calls whose server has neither failed nor refused', () => {
    const taught = Object.values(GRPC_STATUS).filter(
      (grpcStatus) => learned({ ...answered(200), grpcStatus })[1] === 40,
    );
    expect(taught).toEqual([0, 1, 3, 5, 6, 7, 9, 10, 11, 16]);
  });

  it('learns from a timeout, also while a connection was opened, and from a caller that left', () => {
    expect(learned(failed('attempt_timeout'))).toEqual(['end', 40]);
    expect(learned(failed('attempt_timeout', false))).toEqual(['end', 40]);
    expect(learned(failed('cancelled'))).toEqual(['abandon', 40]);
  });

  it('learns from the end of the time that a caller gives what it learns from a caller that leaves', () => {
    expect(learned(failed('attempt_timeout'), true)).toEqual(['abandon', 40]);
    expect(learned(failed('reset'), true)).toEqual(['end', undefined]);
  });

  it('learns nothing from other failures', () => {
    expect(learned(failed('max_pending', false))).toEqual(['end', undefined]);
    expect(learned(failed('max_connections', false))).toEqual(['end', undefined]);
    expect(learned(failed('connect_refused', false))).toEqual(['end', undefined]);
  });
});
