import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import { deadlinePassed } from './attempt-outcome.ts';

const context = (receivingMs: number, attempts: readonly object[] = [], keyMs = 0) =>
  ({
    startedMs: 500,
    deadlineMs: 1500,
    times: { receivingUs: receivingMs * 1000, keyUs: keyMs * 1000 },
    attempts,
  }) as unknown as RequestContext;

describe('the error of a request whose deadline passed', () => {
  it('before it was sent blames the caller if it waited for its body, the store if it waited for its key, otherwise the gateway', () => {
    expect(deadlinePassed(context(500))).toMatchObject({ code: 'request_timeout' });
    expect(deadlinePassed(context(0, [], 500))).toMatchObject({ code: 'idempotency_unavailable' });
    expect(deadlinePassed(context(499, [], 499))).toMatchObject({ code: 'gateway_overloaded' });
  });

  it('after it was sent is that the upstream did not respond', () => {
    expect(deadlinePassed(context(900, [{}]))).toMatchObject({ code: 'upstream_timeout' });
  });
});
