import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../test/api.ts';
import { cookieOf, CSRF, signIn } from '../../../test/console.ts';
import { holdCall } from '../../../test/held-call.ts';
import { FULL, tokenCalls } from '../../../test/tokens.ts';

describe('a call whose token ends before its body has arrived', () => {
  let api: TestApi;
  let names = 0;
  let serviceId: string;
  let routeId: string;

  beforeAll(async () => {
    api = await startTestApi();
    const service = { name: 'base', environment: 'production', url: 'http://a.example' };
    serviceId = (await api.call('POST', '/v1/services', { body: service })).json.data?.id ?? '';
    const route = { name: 'base', service_id: serviceId };
    routeId = (await api.call('POST', '/v1/routes', { body: route })).json.data?.id ?? '';
  });

  afterAll(async () => {
    await api.close();
  });

  const { make } = tokenCalls(() => api);
  const newName = () => `held-${(names += 1)}`;
  const newToken = () => make({ name: newName(), ...FULL });
  const auditedChanges = async () =>
    (await api.call('GET', '/v1/audit-events?limit=200')).json.data ?? [];

  const WRITES: readonly (readonly [string, () => readonly [string, string, object]])[] = [
    [
      'creates a token',
      () => ['POST', '/v1/tokens', { ...FULL, name: newName(), scopes: ['proxy'] }],
    ],
    [
      'creates a service',
      () => [
        'POST',
        '/v1/services',
        { name: newName(), environment: 'production', url: 'http://b.example' },
      ],
    ],
    [
      'changes a service',
      () => ['PATCH', `/v1/services/${serviceId}`, { health_path: `/${newName()}` }],
    ],
    ['creates a route', () => ['POST', '/v1/routes', { name: newName(), service_id: serviceId }]],
    [
      'changes a route',
      () => ['PATCH', `/v1/routes/${routeId}`, { timeout_ms: 4000 + (names += 1) }],
    ],
    [
      'applies a document',
      () => ['POST', '/v1/environments/production/apply', { services: [], routes: [] }],
    ],
    ['explains a request', () => ['POST', `/v1/routes/${routeId}/explain`, { anonymous: true }]],
  ];

  it.each(WRITES)('is refused if it %s with a revoked token', async (_what, callOf) => {
    const token = await newToken();
    const [method, path, body] = callOf();
    const headers = { authorization: `Bearer ${token.secret}` };
    const held = await holdCall(api, token.id, method, path, { headers, body });
    expect((await api.call('DELETE', token.path)).status).toBe(204);
    const before = await auditedChanges();
    const answer = await held.release();
    expect(answer).toMatchObject({
      status: 401,
      text: expect.stringContaining('authentication_failed'),
    });
    expect(await auditedChanges()).toEqual(before);
  });

  it('is refused after a rotation without grace', async () => {
    const token = await newToken();
    const headers = { authorization: `Bearer ${token.secret}` };
    const body = { ...FULL, name: newName(), scopes: ['proxy'] };
    const held = await holdCall(api, token.id, 'POST', '/v1/tokens', { headers, body });
    await api.call('POST', `${token.path}/rotate`, { body: { grace_seconds: 0 } });
    expect((await held.release()).status).toBe(401);
  });

  it('creates no token that outlives the grace period of a rotation', async () => {
    const token = await newToken();
    const headers = { authorization: `Bearer ${token.secret}` };
    const body = { ...FULL, name: newName(), scopes: ['proxy'], expires_at: null };
    const held = await holdCall(api, token.id, 'POST', '/v1/tokens', { headers, body });
    await api.call('POST', `${token.path}/rotate`, { body: { grace_seconds: 60 } });
    expect((await held.release()).status).toBe(401);
  });

  it('is refused if its token has expired', async () => {
    const expires_at = new Date(api.clock.nowMs() + 600_000).toISOString();
    const token = await make({ name: newName(), ...FULL, expires_at });
    const headers = { authorization: `Bearer ${token.secret}` };
    const body = { ...FULL, name: newName(), scopes: ['proxy'] };
    const held = await holdCall(api, token.id, 'POST', '/v1/tokens', { headers, body });
    api.clock.advance(600_000);
    expect((await held.release()).status).toBe(401);
  });

  it('is refused after its session of the console was signed out', async () => {
    const token = await newToken();
    const cookie = cookieOf(await signIn(api, token.secret));
    const other = await newToken();
    const otherCookie = cookieOf(await signIn(api, other.secret));
    await api.db
      .updateTable('tokens')
      .set({ last_used_at: null })
      .where('id', 'in', [token.id, other.id])
      .execute();
    const body = { ...FULL, name: newName(), scopes: ['proxy'] };
    const path = '/console/api/v1/tokens';
    const held = await holdCall(api, token.id, 'POST', path, {
      headers: { cookie, ...CSRF },
      body,
    });
    await api.call('DELETE', '/console/session', { token: null, headers: { cookie, ...CSRF } });
    expect((await held.release()).status).toBe(401);
    // The same call of a session that lives succeeds.
    const live = await holdCall(api, other.id, 'POST', path, {
      headers: { cookie: otherCookie, ...CSRF },
      body,
    });
    expect((await live.release()).status).toBe(201);
  });

  it('succeeds within the grace period of a rotation', async () => {
    const token = await newToken();
    const headers = { authorization: `Bearer ${token.secret}` };
    const body = { name: newName(), service_id: serviceId };
    const held = await holdCall(api, token.id, 'POST', '/v1/routes', { headers, body });
    await api.call('POST', `${token.path}/rotate`, { body: { grace_seconds: 3600 } });
    expect((await held.release()).status).toBe(201);
  });
});
