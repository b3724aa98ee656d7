import { describe, expect, it } from '@jest/globals';
import { RETRY_POLICY, RETRY_STATE } from '../../test/retry-state.ts';
import { decideRetry, MAX_RESENDS, type RetryState } from './decide-retry.ts';

const policy = RETRY_POLICY;
const state: RetryState = {
  ...RETRY_STATE,
  failure: { kind: 'goaway' },
  sent: false,
  method: 'POST',
  retryCount: 0,
};

describe('a POST whose upstream ended the connection before it looked at it', () => {
  it.each<[string, Partial<RetryState>, ReturnType<typeof decideRetry>]>([
    ['without retries', {}, { retry: true, delayMs: 0, why: 'nothing_sent', uncounted: true }],
    [
      'whatever the budget',
      { liveRetries: 9, recentRequests: 10, earnedRetries: 0 },
      { retry: true, delayMs: 0, why: 'nothing_sent', uncounted: true },
    ],
    [
      'for the last time',
      { resends: MAX_RESENDS - 1 },
      { retry: true, delayMs: 0, why: 'nothing_sent', uncounted: true },
    ],
    ['no more than that', { resends: MAX_RESENDS }, { retry: false, why: 'retry_count_used_up' }],
    [
      'then as a counted retry',
      { resends: MAX_RESENDS, retryCount: 1, random: 0 },
      { retry: true, delayMs: 0, why: 'nothing_sent' },
    ],
    ['only if its body is kept', { bodyKept: false }, { retry: false, why: 'body_not_kept' }],
    ['only with time left', { remainingMs: 4 }, { retry: false, why: 'deadline' }],
  ])('is sent again at once: %s', (_case, changes, expected) => {
    expect(decideRetry({ ...state, ...changes }, policy)).toEqual(expected);
  });
});
