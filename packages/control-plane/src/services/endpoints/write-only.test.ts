import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { expectError } from '../../../test/expect-error.ts';
import { startTestApi, type Answer, type TestApi } from '../../../test/api.ts';

/** A token with write scopes alone changes resources, but does not see what they contain. */
describe('a change with a token that may not read', () => {
  let api: TestApi;
  let serviceId: string;
  let routeId: string;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    api = await startTestApi();
    const service = { name: 'base', environment: 'production', url: 'http://hidden.example' };
    serviceId = (await api.call('POST', '/v1/services', { body: service })).json.data?.id ?? '';
    const route = { name: 'base', service_id: serviceId, timeout_ms: 4321 };
    routeId = (await api.call('POST', '/v1/routes', { body: route })).json.data?.id ?? '';
    const make = (name: string, scopes: string[]) =>
      api.makeToken({ name, environments: ['production'], routes: ['*'], scopes });
    tokens['writes'] = await make('writes', ['services:write', 'routes:write']);
    tokens['reads too'] = await make('reads too', [
      'services:write',
      'services:read',
      'routes:write',
      'routes:read',
    ]);
    tokens['reads'] = await make('reads', ['services:read', 'routes:read']);
  });

  afterAll(async () => {
    await api.close();
  });

  const put = { services: [{ name: 'base', url: 'http://hidden.example' }], routes: [] };
  const CALLS: readonly (readonly [string, () => readonly [string, string, object]])[] = [
    ['PATCH of a service', () => ['PATCH', `/v1/services/${serviceId}`, {}]],
    ['PATCH of a route', () => ['PATCH', `/v1/routes/${routeId}`, {}]],
    ['PUT of a service', () => ['PUT', '/v1/services/base', { url: 'http://hidden.example' }]],
    [
      'PUT of a route',
      () => ['PUT', '/v1/routes/base', { service_id: serviceId, timeout_ms: 4321 }],
    ],
    ['apply', () => ['POST', '/v1/environments/production/apply', put]],
  ];

  it.each(CALLS)('is answered 204: %s', async (_what, callOf) => {
    const [method, path, body] = callOf();
    const unseen = await api.call(method, path, { token: tokens['writes'] ?? '', body });
    expect({ status: unseen.status, text: unseen.text }).toEqual({ status: 204, text: '' });
    const seen = await api.call(method, path, { token: tokens['reads too'] ?? '', body });
    expect(seen.status).toBe(200);
    const tag = unseen.headers.get('etag');
    // For the If-Match of the next change. It does not say the health of a service.
    expect(tag).toBe(seen.headers.get('etag')?.replace('-unknown', '') ?? null);
    if (tag === null) return;
    const headers = { 'if-match': tag };
    const next = await api.call(method, path, { token: tokens['writes'] ?? '', body, headers });
    expect(next.status).toBe(204);
  });

  it.each(CALLS.filter(([what]) => what.endsWith('service')))(
    'does not tell whether a guess of the health of a service is right: %s',
    async (_what, callOf) => {
      const [method, path, body] = callOf();
      const guess = (token: string, status: string) =>
        api.call(method, path, { token: tokens[token] ?? '', body: { ...body, status } });
      for (const status of ['unknown', 'healthy']) {
        const answer = await guess('writes', status);
        expectError(answer, 400, 'invalid_request');
        expect(answer.json.error?.['details']).toEqual([
          { path: 'status', message: 'is read-only' },
        ]);
      }
      expect((await guess('reads too', 'unknown')).status).toBe(200);
    },
  );

  it('is made', async () => {
    const path = `/v1/services/${serviceId}`;
    const token = tokens['writes'] ?? '';
    const body = { health_path: '/changed' };
    expect((await api.call('PATCH', path, { token, body })).status).toBe(204);
    expect((await api.call('GET', path)).json.data).toMatchObject(body);
  });

  it('has no answer to a stored response of an idempotency key', async () => {
    const path = '/v1/environments/production/apply';
    const token = tokens['writes'] ?? '';
    const call = { token, body: { services: [] }, headers: { 'idempotency-key': 'unseen' } };
    const both: Answer[] = [await api.call('POST', path, call), await api.call('POST', path, call)];
    expect(both.map(({ status }) => status)).toEqual([204, 204]);
    expect(both[1]?.headers.get('idempotent-replayed')).toBe('true');
  });

  it('confirms no guess of a field', async () => {
    const upstreams = ['http://one.example', 'http://two.example'].map((url) => ({ url }));
    const body = { name: 'guessed', environment: 'production', upstreams };
    const { id } = (await api.call('POST', '/v1/services', { body })).json.data ?? {};
    const guesses = [
      [`/v1/services/${id}`, { url: 'http://one.example' }, { url: 'http://six.example' }],
      [`/v1/services/${id}`, { revision: 1 }, { revision: 2 }],
      [`/v1/services/${id}`, { status: 'unknown' }, { status: 'healthy' }],
      [`/v1/routes/${routeId}`, { environment: 'production' }, { environment: 'development' }],
    ] as const;
    for (const [path, right, wrong] of guesses) {
      const token = tokens['writes'] ?? '';
      const answers = [right, wrong].map((given) =>
        api.call('PATCH', path, { token, body: given }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 400]);
    }
  });

  describe('a dry run', () => {
    const path = '/v1/environments/production/apply';
    const credential = { type: 'bearer', token: 'upstream-secret' };
    const withCredential = (given: object | string) => ({
      dry_run: true,
      services: [{ name: 'base', url: 'http://hidden.example', credential: given }],
    });

    beforeAll(async () => {
      await api.call('PATCH', `/v1/services/${serviceId}`, { body: { credential } });
    });

    it('with read scopes confirms no guess of a secret', async () => {
      const { certPem, keyPem } = createTestAuthority('upstreams').issue(['client.test']);
      const tls = { client_certificate: { cert_pem: certPem, key_pem: keyPem } };
      const url = 'https://hidden.example';
      for (const body of [
        withCredential(credential),
        withCredential({ type: 'bearer', token: 'wrong-guess' }),
        { dry_run: true, services: [{ name: 'base', url, tls }] },
      ]) {
        const answer = await api.call('POST', path, { token: tokens['reads'] ?? '', body });
        expectError(answer, 401, 'authentication_failed');
        expect(answer.headers.get('www-authenticate')).toContain('services:write');
      }
    });

    it('with read scopes takes references', async () => {
      const body = withCredential({ type: 'bearer', token: '${BASE_TOKEN}' });
      const answer = await api.call('POST', path, { token: tokens['reads'] ?? '', body });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('/credential');
    });

    it('with the write scope compares secrets', async () => {
      const body = withCredential(credential);
      const answer = await api.call('POST', path, { token: tokens['reads too'] ?? '', body });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain('/credential');
      const other = withCredential({ type: 'bearer', token: 'wrong-guess' });
      const differs = await api.call('POST', path, {
        token: tokens['reads too'] ?? '',
        body: other,
      });
      expect(differs.text).toContain('"path":"/credential"');
    });
  });
});
