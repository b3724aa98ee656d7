import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import { deadlinePassed } from './attempt-outcome.ts';

const context = (attempts: readonly object[] = [], keyMs = 0, callerDeadlineMs = Infinity) =>
  ({
    timeoutMs: 1000,
    deadlineMs: 1000,
    callerDeadlineMs,
    times: { keyUs: keyMs * 1000 },
    attempts,
  }) as unknown as RequestContext;

describe('the error of a request whose deadline passed', () => {
  it('before it was sent blames the store if it waited for its key, otherwise the gateway', () => {
    expect(deadlinePassed(context([], 500))).toMatchObject({ code: 'idempotency_unavailable' });
    expect(deadlinePassed(context([], 499))).toMatchObject({ code: 'gateway_overloaded' });
  });

  it('after it was sent is that the upstream did not respond', () => {
    expect(deadlinePassed(context([{}]))).toMatchObject({ code: 'upstream_timeout' });
  });

  it('is that the time of the caller is over if that was shorter, also before it was sent', () => {
    for (const attempts of [[], [{}]]) {
      const { code, message } = deadlinePassed(context(attempts, 999, 1000));
      expect(code).toBe('upstream_timeout');
      expect(message).toContain('grpc-timeout');
    }
  });
});
