import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { grantsScope, SCOPES } from '@gateway/shared/tokens/scopes';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

/** Expects a 401 with its code in the header and in the envelope, and WWW-Authenticate. */
function expect401({ status, headers, json }: Answer, challenge = 'Bearer'): void {
  expect({ status, code: json.error?.['code'] }).toEqual({
    status: 401,
    code: 'authentication_failed',
  });
  expect(headers.get('www-authenticate')).toBe(challenge);
  expect(headers.get('x-gateway-error')).toBe('authentication_failed');
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
  expect(json.error?.['request_id']).toBe(headers.get('x-request-id'));
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
}

describe('access to the management API', () => {
  let api: TestApi;
  let serviceId: string;
  let routeId: string;
  const reach = { environments: ['development'], routes: ['orders'], scopes: ['*'] };

  beforeAll(async () => {
    api = await startTestApi();
    const service = { name: 'pay', environment: 'production', url: 'http://pay.example' };
    serviceId = (await api.call('POST', '/v1/services', { body: service })).json.data?.id ?? '';
    const route = { name: 'payments', service_id: serviceId };
    routeId = (await api.call('POST', '/v1/routes', { body: route })).json.data?.id ?? '';
  });

  afterAll(async () => {
    await api.close();
  });

  it('refuses a call without a token', async () => {
    expect401(await api.call('GET', '/v1/services', { token: null }));
  });

  it.each(['Bearer', 'Bearer ', 'Basic YTpi', 'gwt_x', 'Bearer a b', 'Bearer short'])(
    'refuses the malformed Authorization %j',
    async (authorization) => {
      const headers = { authorization };
      expect401(await api.call('GET', '/v1/services', { token: null, headers }));
    },
  );

  it('refuses an unknown token', async () => {
    expect401(await api.call('GET', '/v1/services', { token: createTokenSecret() }));
  });

  it('refuses a token from the time when it expires', async () => {
    const expiresMs = api.clock.nowMs() + 60_000;
    const body = { name: 'brief', environments: ['production'], scopes: ['services:read'] };
    const token = await api.makeToken({ ...body, expires_at: new Date(expiresMs).toISOString() });
    api.clock.advance(59_999);
    expect((await api.call('GET', '/v1/services', { token })).status).toBe(200);
    api.clock.advance(1);
    expect401(await api.call('GET', '/v1/services', { token }));
  });

  it('refuses a revoked token', async () => {
    const body = { name: 'doomed', environments: ['production'], scopes: ['services:read'] };
    const made = await api.call('POST', '/v1/tokens', { body });
    const token = made.json.data?.secret ?? '';
    expect((await api.call('GET', '/v1/services', { token })).status).toBe(200);
    const path = `/v1/tokens/${made.json.data?.id ?? ''}`;
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect401(await api.call('GET', '/v1/services', { token }));
    expect((await api.call('DELETE', path)).status).toBe(404);
    expect((await api.call('GET', path)).status).toBe(404);
  });

  it('refuses resources of another environment and leaves them out of lists', async () => {
    const token = await api.makeToken({ name: 'other', ...reach, routes: ['*'] });
    expect401(await api.call('GET', `/v1/services/${serviceId}`, { token }));
    expect401(await api.call('PATCH', `/v1/services/${serviceId}`, { token, body: {} }));
    expect401(await api.call('DELETE', `/v1/services/${serviceId}`, { token }));
    expect401(await api.call('GET', `/v1/routes/${routeId}`, { token }));
    const route = { name: 'theirs', service_id: serviceId };
    expect401(await api.call('POST', '/v1/routes', { token, body: route }));
    const service = { name: 'x', environment: 'production', url: 'http://x.example' };
    expect401(await api.call('POST', '/v1/services', { token, body: service }));
    for (const path of ['/v1/services', '/v1/routes']) {
      expect((await api.call('GET', path, { token })).json.data).toEqual([]);
    }
    const environments = (await api.call('GET', '/v1/environments', { token })).json.data;
    expect(environments?.map((one) => one['name'])).toEqual(['development']);
  });

  it('does not let a production token modify a development route', async () => {
    const body = { name: 'dev', environment: 'development', url: 'http://dev.example' };
    const service = (await api.call('POST', '/v1/services', { body })).json.data?.id;
    const made = await api.call('POST', '/v1/routes', {
      body: { name: 'payments', service_id: service },
    });
    const path = `/v1/routes/${made.json.data?.id ?? ''}`;
    const token = await api.makeToken({
      name: 'prod',
      environments: ['production'],
      scopes: ['*'],
    });
    expect401(await api.call('PATCH', path, { token, body: { timeout_ms: 1 } }));
    expect401(await api.call('DELETE', path, { token }));
    expect((await api.call('GET', path)).json.data).toMatchObject({ timeout_ms: 10_000 });
  });

  it('refuses routes that the token does not cover, for every method', async () => {
    const token = await api.makeToken({ name: 'narrow', ...reach, environments: ['production'] });
    const path = `/v1/routes/${routeId}`;
    expect401(await api.call('GET', path, { token }));
    expect401(await api.call('PATCH', path, { token, body: { timeout_ms: 1 } }));
    expect401(await api.call('DELETE', path, { token }));
    const route = { name: 'payments-2', service_id: serviceId };
    expect401(await api.call('POST', '/v1/routes', { token, body: route }));
    expect((await api.call('GET', '/v1/routes', { token })).json.data).toEqual([]);
    const own = { name: 'orders', service_id: serviceId };
    const made = await api.call('POST', '/v1/routes', { token, body: own });
    expect(made.status).toBe(201);
    const renamed = await api.call('PATCH', `/v1/routes/${made.json.data?.id ?? ''}`, {
      token,
      body: { name: 'stolen' },
    });
    expect401(renamed);
  });

  it.each([
    ['GET', '/v1/services', 'services:read'],
    ['POST', '/v1/services', 'services:write'],
    ['PATCH', '/v1/services/svc_x', 'services:write'],
    ['DELETE', '/v1/services/svc_x', 'services:write'],
    ['GET', '/v1/routes', 'routes:read'],
    ['POST', '/v1/routes', 'routes:write'],
    ['PATCH', '/v1/routes/rte_x', 'routes:write'],
    ['DELETE', '/v1/routes/rte_x', 'routes:write'],
    ['GET', '/v1/tokens', 'tokens:read'],
    ['GET', '/v1/tokens/tok_x', 'tokens:read'],
    ['POST', '/v1/tokens', 'tokens:write'],
    ['DELETE', '/v1/tokens/tok_x', 'tokens:write'],
    ['POST', '/v1/tokens/tok_x/rotate', 'tokens:write'],
    ['POST', '/v1/environments', 'config:write'],
    ['GET', '/v1/audit-events', 'audit:read'],
    ['GET', '/v1/config/versions', 'config:read'],
    ['GET', '/v1/config/versions/1', 'config:read'],
    ['GET', '/v1/config/diff', 'config:read'],
    ['GET', '/v1/data-planes', 'config:read'],
    ['POST', '/v1/config/rollback', 'config:write'],
    ['GET', '/v1/requests', 'requests:read'],
    ['GET', '/v1/requests/req_x', 'requests:read'],
  ])('%s %s needs the scope %s', async (method, path, scope) => {
    const scopes = SCOPES.filter((one) => !grantsScope([one], scope));
    const name = `without ${method} ${path}`.replace(/[^A-Za-z0-9]/g, '-');
    const token = await api.makeToken({ name, environments: ['production'], scopes });
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const answer = await api.call(method, path, { token, ...body });
    expect401(answer, `Bearer error="insufficient_scope", scope="${scope}"`);
    expect(answer.json.error?.['message']).toBe(`The token lacks the scope ${scope}.`);
  });

  it('names all scopes of a call that needs several', async () => {
    const token = await api.makeToken({ ...reach, name: 'rollback', scopes: ['config:write'] });
    const body = { environment: 'development', version: 1 };
    const answer = await api.call('POST', '/v1/config/rollback', { token, body });
    const needed = 'config:write services:write routes:write';
    expect401(answer, `Bearer error="insufficient_scope", scope="${needed}"`);
  });

  it.each([
    ['tokens:write', ['/v1/tokens']],
    [
      'config:write',
      ['/v1/audit-events', '/v1/data-planes', '/v1/config/versions?environment=development'],
    ],
  ])('lets %s read what it could read before the read scopes', async (scope, paths) => {
    const name = `reader-${scope.replace(':', '-')}`;
    const token = await api.makeToken({ ...reach, name, scopes: [scope] });
    for (const path of paths) expect((await api.call('GET', path, { token })).status).toBe(200);
  });

  it('lets tokens with a write scope grant and see the read scopes that it contains', async () => {
    const scopes = ['tokens:write', 'config:write'];
    const token = await api.makeToken({ ...reach, name: 'granting', scopes });
    const body = {
      ...reach,
      name: 'auditor',
      scopes: ['audit:read', 'config:read', 'tokens:read'],
    };
    const made = await api.call('POST', '/v1/tokens', { token, body });
    expect(made.status).toBe(201);
    const listed = await api.call('GET', '/v1/tokens', { token });
    expect(listed.json.data?.map((one) => one['name'])).toContain('auditor');
    const more = { ...reach, name: 'more', scopes: ['services:read'] };
    expect401(await api.call('POST', '/v1/tokens', { token, body: more }));
  });

  it('lets an auditor read and change nothing', async () => {
    const scopes = ['audit:read', 'config:read', 'tokens:read'];
    const everywhere = { environments: ['*'], routes: ['*'] };
    const token = await api.makeToken({ ...everywhere, name: 'auditing', scopes });
    for (const path of ['/v1/audit-events', '/v1/data-planes', '/v1/tokens']) {
      expect((await api.call('GET', path, { token })).status).toBe(200);
    }
    const events = (await api.call('GET', '/v1/audit-events?limit=200')).text;
    const own = (await api.call('GET', '/v1/tokens', { token })).json.data?.at(-1)?.id ?? '';
    const writes: [string, string, object?][] = [
      ['POST', '/v1/environments', { name: 'audited' }],
      ['POST', '/v1/tokens', { name: 'x', environments: ['*'], scopes: ['audit:read'] }],
      ['DELETE', `/v1/tokens/${own}`],
      ['POST', `/v1/tokens/${own}/rotate`, {}],
      ['POST', '/v1/config/rollback', { environment: 'production', version: 1 }],
      ['DELETE', `/v1/routes/${routeId}`],
    ];
    for (const [method, path, body] of writes) {
      expect((await api.call(method, path, { token, ...(body && { body }) })).status).toBe(401);
    }
    const after = JSON.parse((await api.call('GET', '/v1/audit-events?limit=200')).text) as object;
    expect({ ...after, request_id: '' }).toEqual({
      ...(JSON.parse(events) as object),
      request_id: '',
    });
  });
});
