import { describe, expect, it } from '@jest/globals';
import { AdaptiveLimit } from '../limits/adaptive/adaptive-limit.ts';
import { endWait } from './adaptive-attempt.ts';
import type { AttemptEnd, AttemptError } from './attempt-end.ts';

/** What the limit learned from the outcome of an attempt that took 40 ms. */
function learned(outcome: AttemptEnd): readonly unknown[] {
  const calls: unknown[] = [];
  const limit = new AdaptiveLimit(() => 0);
  limit.end = (latencyMs) => void calls.push('end', latencyMs);
  limit.abandon = (waitedMs) => void calls.push('abandon', waitedMs);
  endWait(limit, outcome, 40, 1000);
  return calls;
}

const failure = (name: AttemptError['name'], sent = true): AttemptEnd => {
  return { error: { name, sent } };
};

describe('the adaptive limit of a service', () => {
  it.each([200, 304, 404, 401])('learns from the latency of a response with %i', (status) => {
    expect(learned({ response: { status, fields: [] } })).toEqual(['end', 40]);
  });

  it.each([429, 500, 502, 503])('learns nothing from a response with %i', (status) => {
    expect(learned({ response: { status, fields: [] } })).toEqual(['end', undefined]);
  });

  it('learns from a timeout, also while a connection was opened, and from a caller that left', () => {
    expect(learned(failure('attempt_timeout'))).toEqual(['end', 40]);
    expect(learned(failure('attempt_timeout', false))).toEqual(['end', 40]);
    expect(learned(failure('cancelled'))).toEqual(['abandon', 40]);
  });

  it('learns nothing from other failures', () => {
    expect(learned(failure('max_pending', false))).toEqual(['end', undefined]);
    expect(learned(failure('max_connections', false))).toEqual(['end', undefined]);
    expect(learned(failure('connect_refused', false))).toEqual(['end', undefined]);
  });
});
