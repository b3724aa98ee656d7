import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestApi, type Answer, type TestApi } from '../../test/api.ts';

/** Expects a 401 with its code in the header and in the envelope, and WWW-Authenticate. */
function expect401({ status, headers, json }: Answer): void {
  expect({ status, code: json.error?.['code'] }).toEqual({
    status: 401,
    code: 'authentication_failed',
  });
  expect(headers.get('www-authenticate')).toBe('Bearer');
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
    ['GET', '/v1/tokens', 'tokens:write'],
    ['POST', '/v1/tokens', 'tokens:write'],
    ['DELETE', '/v1/tokens/tok_x', 'tokens:write'],
    ['POST', '/v1/tokens/tok_x/rotate', 'tokens:write'],
    ['POST', '/v1/environments', 'config:write'],
    ['GET', '/v1/audit-events', 'config:write'],
    ['GET', '/v1/requests', 'requests:read'],
    ['GET', '/v1/requests/req_x', 'requests:read'],
  ])('%s %s needs the scope %s', async (method, path, scope) => {
    const others = ['services:read', 'services:write', 'routes:read', 'routes:write'];
    const scopes = [...others, 'requests:read', 'tokens:write', 'config:write', 'proxy'].filter(
      (one) => one !== scope,
    );
    const name = `without ${method} ${path}`.replace(/[^A-Za-z0-9]/g, '-');
    const token = await api.makeToken({ name, environments: ['production'], scopes });
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    const answer = await api.call(method, path, { token, ...body });
    expect401(answer);
    expect(answer.json.error?.['message']).toBe(`The token lacks the scope ${scope}.`);
  });
});
