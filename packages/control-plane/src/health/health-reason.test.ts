import { describe, expect, it } from '@jest/globals';
import { healthReasonText } from './health-reason.ts';

describe('the reason for the health of an upstream', () => {
  it.each([
    [
      'ejected',
      { reason: 'consecutive_failures', failures: 5, detail: 'status_503' },
      '5 of 5 requests failed, the last with status_503',
    ],
    [
      'ejected',
      { reason: 'request_failed', failures: 1, detail: 'reset' },
      'the request that tried it after an ejection failed with reset',
    ],
    ['ejected', { reason: 'check_passed' }, 'its checks pass again, and its ejection is not over'],
    [
      'unhealthy',
      { reason: 'checks_failed', failures: 3, detail: 'dns_failed' },
      '3 of 3 checks failed, the last with dns_failed',
    ],
    [
      'half_open',
      { reason: 'ejection_over' },
      'on trial after an ejection: requests go to it one at a time; without requests, good checks end the trial',
    ],
    [
      'healthy',
      { reason: 'idle' },
      'idle: its checks pass, and no request has succeeded since its ejection',
    ],
    // Of a data plane that is newer or older than this control plane.
    ['ejected', { reason: 'something_new' }, null],
    ['ejected', undefined, null],
  ] as const)('%s because of %j', (state, cause, text) => {
    expect(healthReasonText(state, cause)).toBe(text);
  });
});
