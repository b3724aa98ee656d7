import { describe, expect, it } from '@jest/globals';
import { ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import type { Route } from '../../../api/client.ts';
import { explainPolicies } from './explain-policies.ts';
import { durationText, listWords, sizeText, windowText } from './words.ts';

const route = {
  ...usualValues(ROUTE_FORM),
  id: 'rte_1',
  environment: 'production',
  name: 'charges',
  service_id: 'svc_1',
  timeout_ms: 2000,
  revision: 1,
  created_at: '2026-03-01T00:00:00.000Z',
  updated_at: '2026-03-01T00:00:00.000Z',
} as unknown as Route;

function sentences(title: string, fields: Partial<Route>): readonly string[] {
  const policies = explainPolicies({ ...route, ...fields });
  return policies.find((one) => one.title === title)?.sentences ?? [];
}

describe('the policies of a route in words', () => {
  it('say how many attempts fit into which time, and what is repeated', () => {
    const standard = sentences('Time and retries', {});
    expect(standard).toContain('Up to 3 attempts within 2 s.');
    expect(standard).toContain('POST and PATCH are not repeated after sending.');
    expect(standard).toContain(
      'An attempt is repeated after a broken connection or the status 502, 503 or 504.',
    );
    const keys = { ...route.retry, unsafe_methods: 'with_idempotency_key' as const };
    expect(sentences('Time and retries', { retry: keys, methods: ['GET', 'POST'] })).toContain(
      'POST is repeated after sending only with an Idempotency-Key.',
    );
    const always = { ...route.retry, unsafe_methods: 'always' as const, backoff_ms: 0 };
    expect(sentences('Time and retries', { retry: always })).toEqual(
      expect.arrayContaining([
        'POST and PATCH are repeated even after sending, so the upstream may run them twice.',
        'There is no wait before a retry.',
      ]),
    );
    expect(sentences('Time and retries', { methods: ['GET'] }).join(' ')).not.toMatch(/POST/);
    expect(sentences('Time and retries', { methods: ['GET', 'LOCK', 'PROPFIND'] })).toContain(
      'LOCK and PROPFIND: repeated after sending if HTTP registers the method as idempotent.',
    );
  });

  it('say what is rewritten, if anything is', () => {
    expect(sentences('Rewriting', {})).toEqual([]);
    const none = { set: [], add: [], remove: [] };
    const rewrite = {
      ...{ strip_prefix: '/api', add_prefix: '/v3', path: null, host: 'preserve' },
      query: { set: [{ name: 'a', value: '1' }], remove: ['b', 'c'] },
      request_headers: none,
      response_headers: { ...none, add: [{ name: 'X-A', value: '1' }] },
    };
    expect(sentences('Rewriting', { rewrite })).toEqual([
      '/api is stripped from paths.',
      '/v3 comes before paths.',
      'The upstream gets the host of the caller.',
      'Sets these parameters of the query: a.',
      'Removes these parameters of the query: b and c.',
      'Adds these headers of responses: X-A.',
    ]);
  });

  it('say which pages of other origins may call, if any may', () => {
    expect(sentences('Browsers (CORS)', {})).toEqual([]);
    const cors = {
      origins: ['https://app.example.com'],
      methods: ['PUT', 'PURGE'],
      headers: ['*'],
      expose: ['X-Total'],
      credentials: true,
      max_age_s: 60,
    };
    expect(sentences('Browsers (CORS)', { cors })).toEqual([
      'Pages of https://app.example.com may read responses. WebSockets of other pages get 403.',
      'They may use PUT, and send every header.',
      'They may read X-Total of responses.',
      'They may send cookies.',
      'Browsers keep the answer to a preflight for 1 min.',
    ]);
    const open = {
      ...cors,
      origins: ['*'],
      methods: null,
      headers: [],
      expose: [],
      credentials: false,
    };
    expect(sentences('Browsers (CORS)', { cors: open, methods: ['GET', 'POST'] })).toEqual([
      'Pages of every origin may read responses.',
      'They may use GET and POST, and send no header of their own.',
      'They may not send cookies.',
      'Browsers keep the answer to a preflight for 1 min.',
    ]);
  });

  it('of a route that answers itself are only those that have an effect', () => {
    const redirect = { status: 302, location: 'https://new.example.com/' } as const;
    const policies = explainPolicies({ ...route, service_id: null, redirect });
    expect(policies.map(({ title }) => title)).toEqual([
      'Authentication',
      'Methods',
      'Quota',
      'Log',
    ]);
  });

  it('say how slowly bodies may come', () => {
    expect(sentences('Slow bodies', {})).toEqual([
      'The body of a request may take 1 h, and needs 1 KiB a second over 30 s. Slower ones get 408.',
      'The wait for it does not count towards the deadline.',
    ]);
    const own = { max_upload_ms: 500, min_upload_bytes_per_second: 0, body_idle_timeout_ms: 9000 };
    expect(sentences('Slow bodies', own)).toEqual([
      'The body of a request may take 500 ms. Slower ones get 408.',
      'The wait for it does not count towards the deadline.',
      'A body may be silent for 9 s.',
    ]);
    expect(sentences('Slow bodies', { ...own, streaming: true })).toEqual([
      'Streams may last: the deadline ends when a request is sent, then only silence in both directions ends it.',
      'That silence may last 9 s.',
    ]);
  });

  it('say that nothing is repeated without retries', () => {
    expect(sentences('Time and retries', { retry_count: 0, timeout_ms: 300 })).toEqual([
      '1 attempt within 300 ms: nothing is repeated.',
    ]);
  });

  it('name the time of one attempt only if it is shorter than that of all', () => {
    const retry = { ...route.retry, per_attempt_timeout_ms: 500, on_statuses: [] };
    expect(sentences('Time and retries', { retry })).toEqual(
      expect.arrayContaining([
        'One attempt may take 500 ms.',
        'An attempt is repeated after a broken connection or an attempt that takes too long.',
      ]),
    );
    const long = { ...route.retry, per_attempt_timeout_ms: 5000 };
    expect(sentences('Time and retries', { retry: long }).join(' ')).not.toMatch(/One attempt/);
  });

  it('say who may call', () => {
    expect(sentences('Authentication', {})[0]).toMatch(/^Callers send a token/);
    expect(sentences('Authentication', { auth: { type: 'api_key' } })[0]).toMatch(/as X-API-Key/);
    expect(sentences('Authentication', { auth: { type: 'none' } })[0]).toBe(
      'Anybody may call the route.',
    );
    const jwt = {
      type: 'jwt' as const,
      issuer: 'https://login.example',
      audience: ['orders', 'refunds'],
      jwks_url: 'https://login.example/keys',
      algorithms: ['RS256' as const, 'ES256' as const],
      required_claims: { role: ['admin', 'billing'], level: 3 },
    };
    expect(sentences('Authentication', { auth: jwt })).toEqual([
      'Callers send a JWT of https://login.example for orders or refunds, as Authorization: Bearer.',
      'It is signed with RS256 or ES256, by a key that https://login.example/keys lists.',
      'Its claim role is "admin" or "billing".',
      'Its claim level is 3.',
      'The upstream gets X-Gateway-Subject in place of the JWT.',
    ]);
    const named = { ...jwt, audience: 'orders', required_claims: ['tenant', 'role'] };
    expect(sentences('Authentication', { auth: named })).toContain(
      'It has the claims tenant and role, with any value.',
    );
  });

  it('say what is accepted, and how much', () => {
    expect(sentences('Methods and bodies', {})).toEqual([
      'GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS only. Other methods get 405.',
      'Bodies up to 10 MiB. Longer ones get 413.',
      'Addresses of the upstream in responses become those by which callers reach the route.',
    ]);
    const small = { methods: ['GET' as const], max_body_bytes: 0 };
    expect(
      sentences('Methods and bodies', {
        ...small,
        allow_encoded_control_characters: true,
        early_hints: true,
        grpc_errors: 'trailers',
        locations: 'off',
      }),
    ).toEqual([
      'GET only. Other methods get 405.',
      'Requests with a body get 413.',
      'A path may have the encoded control characters %09, %0A and %0D.',
      'gRPC calls get errors of the gateway with the status 200 and a gRPC status.',
      'Callers get the 103 Early Hints of the upstream.',
    ]);
    const quota = { ...route.rate_limit, limit: 1, window_seconds: 3600, per: 'token' as const };
    expect(sentences('Quota', { rate_limit: quota })[0]).toBe(
      '1 request in an hour for each caller, over all data planes. Further ones get 429.',
    );
    const refuse = { ...route.rate_limit, on_store_unavailable: 'refuse' as const };
    expect(sentences('Quota', { rate_limit: refuse })[1]).toMatch(/then answers 503/);
  });

  it('say what keys do and where requests go', () => {
    const keys = { ...route.idempotency, required: true, on_unknown: 'forward' as const };
    expect(sentences('Idempotency keys', { idempotency: keys })).toEqual([
      'Every request needs an Idempotency-Key. Without one it gets 400.',
      'A request with a key runs once; within 24 hours the same request gets the stored response.',
      'After 425, 429 the same request runs again, because it was not carried out.',
      'If it is unknown whether the first one ran, the next one is forwarded and may run twice.',
    ]);
    expect(
      sentences('Idempotency keys', { idempotency: { ...keys, repeatable_statuses: [] } })[2],
    ).toBe('This is so after every status.');
    const off = { ...route.idempotency, mode: 'off' as const };
    expect(sentences('Idempotency keys', { idempotency: off })).toEqual([
      'A request may have an Idempotency-Key.',
      'Keys are for the upstream. The gateway passes them on and stores nothing.',
    ]);
    expect(sentences('Regions', { regions: ['eu', 'us'] })[0]).toMatch(/it uses eu, us, then any/);
    expect(sentences('Regions', {})[0]).toMatch(/it uses any other region\.$/);
  });

  it('have durations, windows and sizes that people read', () => {
    expect([999, 1000, 1500, 300_000].map(durationText)).toEqual([
      '999 ms',
      '1 s',
      '1.5 s',
      '5 min',
    ]);
    expect([1, 60, 90, 86_400].map(windowText)).toEqual(['a second', 'a minute', '90 s', 'a day']);
    expect([1, 1000, 65_536, 1024 ** 3].map(sizeText)).toEqual([
      '1 byte',
      '1 KB',
      '64 KiB',
      '1 GiB',
    ]);
    expect(listWords(['a', 'b', 'c'])).toBe('a, b and c');
  });

  it('say which requests are logged', () => {
    const log = (enabled: boolean, ratio: number) =>
      sentences('Log', { access_log: { enabled, sample_ratio: ratio } });
    expect(log(true, 1)).toEqual(['Every request has a line in the log.']);
    expect(log(false, 0.5)).toEqual(['Requests have no line in the log.']);
    expect(log(true, 0.015)).toEqual([
      '1.5 % of the requests have a line in the log, and all that failed because of the upstream.',
    ]);
  });
});
