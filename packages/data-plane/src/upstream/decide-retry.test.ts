import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { REGISTERED_METHODS } from '@gateway/shared/http/methods';
import {
  decideRetry,
  parseRetryAfterMs,
  parsePushbackMs,
  type AttemptFailure,
  type RequestedWait,
  type RetryState,
} from './decide-retry.ts';
import type { RetryPolicy } from '../routing-table/routing-table.ts';
import { RETRY_POLICY as policy, RETRY_STATE as state } from '../../test/retry-state.ts';

const REASONS = new Set([
  'nothing_sent',
  'method_idempotent',
  'idempotency_key',
  'unsafe_methods_always',
]);

const connect: AttemptFailure = { kind: 'connect' };
const status = (code: number, retryAfterMs?: RequestedWait): AttemptFailure => ({
  kind: 'status',
  status: code,
  retryAfterMs,
});

describe('decideRetry', () => {
  it.each<[string, Partial<RetryState>, Partial<RetryPolicy>, string]>([
    ['a GET that was reset', {}, {}, 'method_idempotent'],
    [
      'a POST that got no connection',
      { method: 'POST', failure: connect, sent: false },
      {},
      'nothing_sent',
    ],
    ['a POST that was reset', { method: 'POST' }, {}, 'method_not_idempotent'],
    [
      'a PATCH that timed out',
      { method: 'PATCH', failure: { kind: 'attempt_timeout' } },
      {},
      'method_not_idempotent',
    ],
    [
      'a POST that was answered 503',
      { method: 'POST', failure: status(503) },
      {},
      'method_not_idempotent',
    ],
    ['a PUT that was reset', { method: 'PUT' }, {}, 'method_idempotent'],
    [
      'a DELETE that was answered 502',
      { method: 'DELETE', failure: status(502) },
      {},
      'method_idempotent',
    ],
    [
      'a POST if the route allows it',
      { method: 'POST' },
      { unsafeMethods: 'always' },
      'unsafe_methods_always',
    ],
    [
      'a keyed POST if the route allows those',
      { method: 'POST', hasIdempotencyKey: true },
      { unsafeMethods: 'with_idempotency_key' },
      'idempotency_key',
    ],
    [
      'a POST without a key if the route allows keyed ones',
      { method: 'POST' },
      { unsafeMethods: 'with_idempotency_key' },
      'method_not_idempotent',
    ],
    ['a status that is not in the list', { failure: status(500) }, {}, 'status_not_retried'],
    ['a status of the list', { failure: status(504) }, {}, 'method_idempotent'],
    ['an upstream that forbids it', { failure: status(503, 'never') }, {}, 'upstream_forbids'],
    [
      'a status that is not in the list of an upstream that forbids it',
      { failure: status(500, 'never') },
      {},
      'status_not_retried',
    ],
    ['a body that was not kept', { method: 'PUT', bodyKept: false }, {}, 'body_not_kept'],
    ['all retries used', { retriesMade: 2 }, {}, 'retry_count_used_up'],
    [
      'no retries wanted',
      { retryCount: 0, failure: connect, sent: false },
      {},
      'retry_count_used_up',
    ],
    ['a back-off beyond the deadline', { remainingMs: 5 }, {}, 'deadline'],
    ['too little time before the deadline', { remainingMs: 2, random: 0 }, {}, 'deadline'],
    ['a Retry-After beyond the deadline', { failure: status(503, 20_000) }, {}, 'deadline'],
    [
      'a used-up budget at few requests',
      { liveRetries: 3, recentRequests: 5 },
      {},
      'budget_used_up',
    ],
    [
      'the last of the minimum budget',
      { liveRetries: 2, recentRequests: 5 },
      {},
      'method_idempotent',
    ],
    [
      'a used-up budget at many requests',
      { liveRetries: 20, recentRequests: 100 },
      {},
      'budget_used_up',
    ],
    ['the last of the share', { liveRetries: 19, recentRequests: 100 }, {}, 'method_idempotent'],
    ['earned retries that are used up', { earnedRetries: 0.9 }, {}, 'budget_used_up'],
    ['the last earned retry', { earnedRetries: 1 }, {}, 'method_idempotent'],
    [
      'no earned retry, and a request that is alone',
      { earnedRetries: 0, alone: true },
      {},
      'method_idempotent',
    ],
    [
      'no earned retry, but nothing was sent',
      { earnedRetries: 0, failure: connect, sent: false },
      {},
      'nothing_sent',
    ],
  ])('%s', (_case, changes, policyChanges, expected) => {
    const decision = decideRetry({ ...state, ...changes }, { ...policy, ...policyChanges });
    expect(decision.why).toBe(expected);
    expect(decision.retry).toBe(REASONS.has(expected));
  });

  it('waits a random part of a doubling back-off', () => {
    const delay = (retriesMade: number) =>
      decideRetry({ ...state, retriesMade, retryCount: 10, random: 0.999 }, policy);
    expect([delay(0), delay(1), delay(2)]).toEqual(
      [24, 49, 99].map((delayMs) => ({ retry: true, delayMs, why: 'method_idempotent' })),
    );
  });

  it('retries a request that was not sent on another healthy upstream at once, whatever the budget', () => {
    const busy = { liveRetries: 9, recentRequests: 10, earnedRetries: 0 };
    const moving = { ...state, ...busy, failure: connect, sent: false, method: 'POST' };
    expect(decideRetry({ ...moving, hasAlternative: true }, policy)).toEqual({
      retry: true,
      delayMs: 0,
      why: 'nothing_sent',
    });
    expect(decideRetry(moving, policy)).toEqual({ retry: false, why: 'budget_used_up' });
    expect(
      decideRetry({ ...moving, hasAlternative: true, sent: true, method: 'GET' }, policy),
    ).toEqual({
      retry: false,
      why: 'budget_used_up',
    });
    expect(decideRetry({ ...moving, hasAlternative: true, retriesMade: 2 }, policy)).toEqual({
      retry: false,
      why: 'retry_count_used_up',
    });
  });

  it('retries a reset request on another healthy upstream if the retry is earned, whatever the budget', () => {
    const busy = { liveRetries: 9, recentRequests: 10 };
    const reset: RetryState = {
      ...state,
      ...busy,
      failure: { kind: 'reset' },
      hasAlternative: true,
    };
    expect(decideRetry(reset, policy)).toMatchObject({ retry: true });
    const refused = { retry: false, why: 'budget_used_up' };
    expect(decideRetry({ ...reset, earnedRetries: 0.9 }, policy)).toEqual(refused);
    expect(decideRetry({ ...reset, hasAlternative: false }, policy)).toEqual(refused);
    expect(decideRetry({ ...reset, failure: status(503) }, policy)).toEqual(refused);
    expect(decideRetry({ ...reset, method: 'POST' }, policy)).toMatchObject({
      why: 'method_not_idempotent',
    });
  });

  it('waits at least for the Retry-After of the upstream', () => {
    expect(decideRetry({ ...state, failure: status(503, 2000) }, policy)).toEqual({
      retry: true,
      delayMs: 2000,
      why: 'method_idempotent',
    });
  });

  it.each([
    ...REGISTERED_METHODS,
    ['FROB', { idempotent: false }],
    ['get', { idempotent: false }],
  ] as const)('repeats %s after sending as its registration says', (method, { idempotent }) => {
    const why = idempotent ? 'method_idempotent' : 'method_not_idempotent';
    const reset = { ...state, failure: { kind: 'reset' } as const, method };
    expect(decideRetry(reset, policy)).toMatchObject({ retry: idempotent, why });
  });

  it('never retries an unsafe request after sending by default, and never waits past the deadline', () => {
    const failures = fc.oneof(
      fc.constant<AttemptFailure>({ kind: 'reset' }),
      fc.constant<AttemptFailure>({ kind: 'attempt_timeout' }),
      fc.record({
        kind: fc.constant('status' as const),
        status: fc.constantFrom(500, 502, 503),
        retryAfterMs: fc.option(fc.nat(20_000), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(
        failures,
        fc.constantFrom('GET', 'POST', 'PATCH', 'PUT'),
        fc.nat(12),
        fc.nat(20_000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (failure, method, retriesMade, remainingMs, random) => {
          const made = decideRetry(
            { ...state, failure, method, retriesMade, remainingMs, random },
            policy,
          );
          if (!made.retry) return;
          expect(['GET', 'PUT']).toContain(method);
          expect(made.delayMs).toBeLessThan(remainingMs);
          expect(retriesMade).toBeLessThan(state.retryCount);
        },
      ),
    );
  });
});

describe('parseRetryAfterMs', () => {
  it('parses seconds and dates, and nothing else', () => {
    const nowMs = Date.UTC(2030, 0, 1);
    expect(parseRetryAfterMs('3', nowMs)).toBe(3000);
    expect(parseRetryAfterMs('Tue, 01 Jan 2030 00:00:10 GMT', nowMs)).toBe(10_000);
    expect(parseRetryAfterMs('Mon, 31 Dec 2029 00:00:00 GMT', nowMs)).toBe(0);
    expect(parseRetryAfterMs('Tuesday, 01-Jan-30 00:00:10 GMT', nowMs)).toBe(10_000);
    expect(parseRetryAfterMs('Tue Jan  1 00:00:10 2030', nowMs)).toBe(10_000);
    for (const neither of ['soon', 'soon 2099', '-5', '3.5', '1e1', '1, 2', '', '2031-01-01']) {
      expect(parseRetryAfterMs(neither, nowMs)).toBeUndefined();
    }
    expect(parseRetryAfterMs('Tue, 99 Foo 2030 00:00:10 GMT', nowMs)).toBeUndefined();
    expect(parseRetryAfterMs(undefined, nowMs)).toBeUndefined();
  });

  it('takes a very long number as a very long time', () => {
    for (const long of ['9999999999', '9'.repeat(400)]) {
      const retryAfterMs = parseRetryAfterMs(long, 0);
      const failure: AttemptFailure = { kind: 'status', status: 503, retryAfterMs };
      expect(decideRetry({ ...state, failure }, policy)).toEqual({ retry: false, why: 'deadline' });
    }
  });
});

it('takes a pushback of gRPC that is no number of milliseconds as a ban of retries', () => {
  expect(parsePushbackMs(undefined)).toBeUndefined();
  expect(['0', '7', '2500', '9999999999'].map(parsePushbackMs)).toEqual([0, 7, 2500, 9999999999]);
  for (const ban of ['-1', '', 'soon', '1.5', '1e3', '99999999999', ' 1', '1, 2']) {
    expect(parsePushbackMs(ban)).toBe('never');
  }
});
