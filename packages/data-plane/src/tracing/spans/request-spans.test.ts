import { describe, expect, it } from '@jest/globals';
import type { RecordedAttempt } from '@gateway/shared/records/attempt';
import type { RequestRecord } from '@gateway/shared/records/record';
import { requestRecord } from '@gateway/shared/test/request-record';
import type { EndReason } from '@gateway/http/connection-guard';
import type { RequestContext } from '../../request/context.ts';
import { SampledTrace } from '../sampled-trace.ts';
import { requestSpans } from './request-spans.ts';

/** The spans of a request with this record: its own, then those of its attempts. */
function spansOf(change: Partial<RequestRecord>, upstreamBroke = false, endReason?: EndReason) {
  const record = requestRecord(0, change);
  let spans = 0;
  const trace = new SampledTrace('t', undefined, 1, () => String((spans += 1)));
  for (const _attempt of record.attempts) trace.nextTraceparent();
  const request = { protocol: 'http', httpVersion: '1.1', target: { subPath: '' } };
  const ctx = { upstreamBroke, endReason, ...request };
  return requestSpans(ctx as unknown as RequestContext, record, trace);
}

const attempt = (end: Pick<RecordedAttempt, 'status' | 'error'>): RecordedAttempt => {
  return { upstream: 'ups_1', region: null, started_ms: 0, duration_ms: 1, ...end };
};

describe('the span of an attempt', () => {
  it.each([
    [{ error: 'reset' }, true, 'reset'],
    [{ error: 'connect_refused' }, true, 'connect_refused'],
    [{ status: 503 }, true, '503'],
    [{ status: 200 }, false, undefined],
    // Not of the upstream that the span names.
    [{ error: 'max_connections' }, false, 'max_connections'],
    [{ error: 'dns_failed' }, false, 'dns_failed'],
    [{ error: 'cancelled' }, false, 'cancelled'],
  ])('that ended with %j', (end, failed, type) => {
    const [, span] = spansOf({ attempts: [attempt(end)] });
    expect([span?.failed, span?.attributes['error.type']]).toEqual([failed, type]);
  });
});

describe('the span of a request', () => {
  it.each<[string, Partial<RequestRecord>, boolean, boolean, EndReason | undefined]>([
    ['its caller left', { status: null, outcome: 'client_aborted' }, false, false, undefined],
    ['its upstream broke off', { status: 200, outcome: 'upstream_error' }, true, true, undefined],
    [
      'a drain cut its response',
      { status: 200, outcome: 'rejected', error_code: 'gateway_stopping' },
      false,
      true,
      'drained',
    ],
    [
      'its caller did not read its response',
      { status: 200, outcome: 'rejected', error_code: 'response_timeout' },
      false,
      false,
      'timed_out',
    ],
    ['it was refused with 503', { status: 503, outcome: 'rejected' }, false, true, undefined],
  ])('if %s', (_what, change, broke, failed, endReason) => {
    expect(spansOf(change, broke, endReason)[0]?.failed).toBe(failed);
  });
});
