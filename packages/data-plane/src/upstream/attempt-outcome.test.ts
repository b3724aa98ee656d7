import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import type { TakenBody } from '../request/request-body.ts';
import type { AttemptErrorName } from './attempt-end.ts';
import { deadlinePassed, finalError } from './attempt-outcome.ts';

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

describe('the error of a request that reached no upstream', () => {
  const messageOf = (name: AttemptErrorName) => {
    const body = { kind: 'kept', bytes: Buffer.alloc(0) } as unknown as TakenBody;
    return finalError(context([{}]), body, { name, sent: false }, 0).message;
  };

  it.each<[AttemptErrorName, RegExp]>([
    ['connect_refused', /could be reached: it refuses connections\.$/],
    ['connect_timeout', /could be reached: it accepts no connection in time\.$/],
    ['name_not_found', /could be reached: its name has no address\.$/],
    [
      'tls_failed',
      /could be reached: the TLS handshake failed, or its certificate is not trusted\.$/,
    ],
    ['connect_failed', /could be reached\.$/],
  ])('says why, if it is known: %s', (name, message) => {
    expect(messageOf(name)).toMatch(message);
  });
});
