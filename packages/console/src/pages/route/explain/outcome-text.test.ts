import { describe, expect, it } from '@jest/globals';
import { outcomeText } from './outcome-text.ts';

const forward = {
  decision: 'forward' as const,
  stage: 'forward' as const,
  status: null,
  code: null,
  reason: '',
  retry_after_seconds: null,
};

describe('the outcome of a request in words', () => {
  it('says who answers, with what', () => {
    expect(outcomeText(forward)).toBe('Forwarded to an upstream');
    const refused = { status: 429, code: 'rate_limit_exceeded', retry_after_seconds: 17 };
    expect(outcomeText({ ...forward, decision: 'refuse', ...refused })).toBe(
      'Refused with 429 rate_limit_exceeded, Retry-After 17 s',
    );
    expect(outcomeText({ ...forward, decision: 'answer', status: 201 })).toBe(
      'Answered by the gateway itself with 201',
    );
    expect(outcomeText({ ...forward, decision: 'wait' })).toMatch(/^Waits/);
    expect(outcomeText({ ...forward, decision: 'elsewhere' })).toMatch(/^Not a request/);
  });
});
