import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, ERROR_TABLE } from '@gateway/shared/errors/error-table';
import type { RequestRecord } from '../../../api/client.ts';
import { REFUSALS } from './refusals.ts';
import { verdictOf } from './verdict.ts';

/** Only answers of the management API have these, so no record of a request. */
const OF_MANAGEMENT = [
  'service_not_found',
  'token_not_found',
  'environment_not_found',
  'request_not_found',
  'config_version_not_found',
  'idempotency_secret_gone',
  'name_conflict',
  'match_conflict',
  'service_in_use',
  'in_use',
  'environment_in_use',
  'config_version_not_restorable',
  'precondition_failed',
  'unsupported_media_type',
  'resource_unreadable',
  'data_plane_unavailable',
];

const RECORD = {
  kind: 'request',
  environment: 'production',
  route: 'charges',
  route_version: null,
  method: 'POST',
  match: null,
  status: 200,
  outcome: 'success',
  error_code: null,
  error_stage: null,
  attempts: [],
  rate_limit: null,
  idempotency: null,
  policies: null,
  data_plane: 'dp-1',
  timing: { total_ms: 40.4 },
} as unknown as RequestRecord;

const recordOf = (fields: Partial<RequestRecord>): RequestRecord => ({ ...RECORD, ...fields });
const attempt = (fields: object) => ({
  ...{ upstream: 'ups_1', region: null, started_ms: 0, duration_ms: 1 },
  ...fields,
});
const textOf = (fields: Partial<RequestRecord>): string =>
  verdictOf(recordOf(fields), () => 'http://pay').text;

describe('the verdict of a refused request', () => {
  it('knows every error code that a record can have', () => {
    expect([...Object.keys(REFUSALS), ...OF_MANAGEMENT].toSorted()).toEqual(ERROR_CODES.toSorted());
  });

  it.each(Object.keys(REFUSALS) as (keyof typeof REFUSALS)[])(
    'says of %s who refused it, why, and what to change',
    (code) => {
      const { status } = ERROR_TABLE[code];
      const refused = { status, outcome: 'rejected', error_code: code, error_stage: 'quota' };
      const { text, change, tone } = verdictOf(recordOf(refused as Partial<RequestRecord>));
      const start = `Refused at the stage quota with ${status} \`${code}\`: `;
      expect(text.startsWith(start)).toBe(true);
      expect(text).toMatch(/: [^A-Z].+; nothing was sent to an upstream\.$/);
      expect(change).toMatch(/^[A-Z`].+\.$/);
      expect(`${text} ${change ?? ''}`).not.toMatch(/undefined|null/);
      expect(tone).toBe(status >= 500 ? 'bad' : 'warn');
    },
  );

  it('says of an exhausted limit which one it was', () => {
    const refused = {
      status: 429,
      outcome: 'rejected',
      error_code: 'rate_limit_exceeded',
    } as const;
    const rate_limit = { limit: 600, remaining: 0, reset_seconds: 9 };
    expect(textOf({ ...refused, error_stage: 'quota', rate_limit })).toBe(
      'Refused at the stage quota with 429 `rate_limit_exceeded`: the quota of 600 requests in a window was used up; nothing was sent to an upstream.',
    );
    expect(textOf({ ...refused, error_stage: 'authenticate', rate_limit })).toContain(
      'too many authentications of its address had failed',
    );
  });

  it('says of a refused credential whether it is unknown, or covers too little', () => {
    const refused = {
      status: 401,
      outcome: 'rejected',
      error_code: 'authentication_failed',
    } as const;
    expect(textOf({ ...refused, error_stage: 'authenticate' })).toContain('no valid token or JWT');
    expect(textOf({ ...refused, error_stage: 'authorize' })).toContain('the credential is known');
  });

  it('keeps a code that it does not know', () => {
    const { text } = verdictOf(recordOf({ status: 418, error_code: 'of_the_future' }));
    expect(text).toContain('418 `of_the_future`: the code is `of_the_future`');
  });
});

describe('the verdict of a request that was sent', () => {
  it('says which status failed it, and why it was not retried', () => {
    const retry = { retried: false, why: 'method_not_idempotent' };
    const attempts = [attempt({ status: 503, retry })];
    expect(textOf({ status: 503, outcome: 'upstream_error', attempts })).toBe(
      'Failed: http://pay answered 503; not retried, because it was sent, and repeating POST could do harm.',
    );
  });

  it('says why no upstream was reached, and after how many attempts', () => {
    const retried = { retried: true, why: 'nothing_sent' };
    const retry = { retried: false, why: 'retry_count_used_up' };
    const attempts = [
      attempt({ error: 'connect_timeout', retry: retried }),
      attempt({ error: 'connect_refused', retry }),
    ];
    const failed = { status: 502, error_code: 'upstream_unavailable', error_stage: 'forward' };
    expect(textOf({ ...failed, outcome: 'upstream_unavailable', attempts })).toBe(
      'Failed with 502 `upstream_unavailable` in attempt 2: http://pay refused the connection; not retried again, because all retries of the route were made.',
    );
  });

  it('does not blame the upstream for what the gateway did', () => {
    const attempts = [attempt({ error: 'max_connections' })];
    const failed = { status: 503, error_code: 'upstream_overloaded', error_stage: 'forward' };
    expect(textOf({ ...failed, outcome: 'rejected', attempts })).toBe(
      'Failed with 503 `upstream_overloaded`: the attempt at http://pay failed: no connection to it became free in time.',
    );
  });

  it('says what ended a response that had begun', () => {
    const attempts = [attempt({ status: 200 })];
    expect(textOf({ outcome: 'upstream_error', attempts })).toBe(
      'Failed: http://pay answered 200, and its response broke off before its end.',
    );
    expect(textOf({ outcome: 'rejected', error_code: 'gateway_stopping', attempts })).toBe(
      'Failed with 200 `gateway_stopping`: http://pay answered 200, then the data plane stopped before the response was complete.',
    );
  });

  it('names the gRPC status', () => {
    const attempts = [attempt({ status: 200, grpc_status: 14 })];
    expect(textOf({ outcome: 'upstream_error', attempts, grpc_status: 14 })).toBe(
      'Failed: http://pay answered 200 with the gRPC status 14 UNAVAILABLE.',
    );
  });

  it('says that the caller left, and when', () => {
    expect(textOf({ status: null, outcome: 'client_aborted' })).toBe(
      'The caller disconnected after 40 ms, before anything was sent to an upstream.',
    );
    const attempts = [attempt({ status: 200 })];
    expect(textOf({ status: null, outcome: 'client_aborted', attempts })).toBe(
      'The caller disconnected after 40 ms, before the response began.',
    );
    expect(textOf({ outcome: 'client_aborted', attempts })).toBe(
      'The caller disconnected after 40 ms, before it had the whole response of 200.',
    );
  });
});

describe('the verdict of an answered request', () => {
  it('says who answered, with what retries', () => {
    expect(textOf({ attempts: [attempt({ status: 200 })], route_version: 'v2' })).toBe(
      'http://pay (version v2) answered 200 after 40 ms.',
    );
    const attempts = [attempt({ status: 503 }), attempt({ status: 200 })];
    expect(textOf({ attempts })).toBe(
      'http://pay answered 200 after 40 ms, with 1 retry: first http://pay answered 503.',
    );
  });

  it('says of a 404 of the service whose it is', () => {
    const { tone, change } = verdictOf(
      recordOf({ status: 404, attempts: [attempt({ status: 404 })] }),
    );
    expect(tone).toBe('warn');
    expect(change).toContain('answer of the service');
  });

  it('says that the gateway answered itself', () => {
    expect(textOf({ status: 301, policies: ['redirect'] })).toBe(
      'The gateway answered 301 itself, as `redirect` of the route says; nothing was sent to an upstream.',
    );
    expect(textOf({ idempotency: 'replayed' })).toContain('the stored response of the first');
    expect(textOf({ kind: 'preflight', status: 204 })).toBe(
      'The gateway answered the preflight of a browser with 204.',
    );
  });
});
