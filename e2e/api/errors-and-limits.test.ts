import { closedPort } from '@gateway/shared/test/upstream';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client, Resource } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('authentication, errors, limits and versioning', () => {
  let gateway: BorrowedGateway;
  let development: Resource;
  let production: Client;
  const dailyQuota = { limit: 2, window_seconds: 86_400 };

  beforeAll(async () => {
    gateway = await borrowGateway();
    production = await gateway.tokenClient({ environments: ['production'] });
    development = await gateway.route({ name: 'draft', environment: 'development' });
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'scarce', rate_limit: dailyQuota });
    await gateway.route({ name: 'plenty', rate_limit: dailyQuota });
    await gateway.route({ name: 'broken', upstreamPath: '/status/502', retry_count: 0 });
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { id } = await gateway.service({ url });
    await gateway.route({ name: 'gone', service_id: id, retry_count: 0 });
    await gateway.settled();
    await gateway.settled('development');
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('Every request carries Authorization: Bearer <ACCESS_TOKEN>, a workspace token.', async () => {
    expect((await production.proxy('orders')).status).toBe(200);
    expect((await production.get('/v1/services')).status).toBe(200);
    for (const authorization of [production.token, `Basic ${production.token}`]) {
      const headers = { authorization };
      const proxied = await production.proxy('orders', { headers });
      await expectRefusal(proxied, 401, 'authentication_failed');
      const managed = await production.get('/v1/services', { headers });
      await expectRefusal(managed, 401, 'authentication_failed');
    }
  });

  it('Tokens are scoped to environments and routes.', async () => {
    const narrow = await gateway.tokenClient({ environments: ['production'], routes: ['orders'] });
    await gateway.settled();
    expect((await narrow.proxy('orders')).status).toBe(200);
    await expectRefusal(await narrow.proxy('plenty'), 401, 'authentication_failed');
    const headers = { 'x-gateway-environment': 'development' };
    await expectRefusal(await narrow.proxy('orders', { headers }), 401, 'authentication_failed');
  });

  it('A production token cannot modify a development route.', async () => {
    const path = `/v1/routes/${development.id}`;
    const refused = await production.patch(path, { timeout_ms: 1 });
    await expectRefusal(refused, 401, 'authentication_failed');
    const deleted = await production.delete(path);
    await expectRefusal(deleted, 401, 'authentication_failed');
    expect((await gateway.admin.get(path)).json()).toEqual({
      data: development,
      request_id: expect.any(String),
    });
  });

  it('A missing, invalid or insufficiently scoped token is rejected with 401 authentication_failed.', async () => {
    const reader = await gateway.tokenClient({ scopes: ['services:read'] });
    await gateway.settled();
    const tokens = [null, 'not-a-token', createTokenSecret(), reader.token];
    for (const token of tokens) {
      const proxied = await gateway.admin.proxy('orders', { token });
      await expectRefusal(proxied, 401, 'authentication_failed');
      const managed = await gateway.admin.get('/v1/routes', { token });
      await expectRefusal(managed, 401, 'authentication_failed');
    }
  });

  it('Gateway errors carry a stable machine-readable code.', async () => {
    const codes = [];
    for (const route of ['none', 'none', 'gone']) {
      const answer = await gateway.admin.proxy(route);
      codes.push((answer.json() as { error: { code: string } }).error.code);
    }
    expect(codes).toEqual(['route_not_found', 'route_not_found', 'upstream_unavailable']);
  });

  it('A failed upstream is distinguishable from a request rejected by the gateway.', async () => {
    const failed = await gateway.admin.proxy('broken');
    expect(failed.status).toBe(502);
    expect(failed.headers.has('x-gateway-error')).toBe(false);
    const rejected = await gateway.admin.proxy('gone');
    expect(rejected.status).toBe(502);
    expect(rejected.headers.get('x-gateway-error')).toBe('upstream_unavailable');
  });

  it('400 invalid_request: required fields missing or JSON types wrong', async () => {
    const missing = await gateway.admin.post('/v1/routes', {});
    await expectRefusal(missing, 400, 'invalid_request');
    const wrong = await gateway.admin.post('/v1/services', { name: [], url: 1 });
    await expectRefusal(wrong, 400, 'invalid_request');
  });

  it('401 authentication_failed: token invalid or wrongly scoped', async () => {
    const invalid = await gateway.admin.proxy('orders', { token: createTokenSecret() });
    await expectRefusal(invalid, 401, 'authentication_failed');
    const writer = await gateway.tokenClient({ scopes: ['routes:write'] });
    await expectRefusal(await writer.get('/v1/routes'), 401, 'authentication_failed');
  });

  it('404 route_not_found: route name unknown in the environment', async () => {
    await expectRefusal(await gateway.admin.proxy('draft'), 404, 'route_not_found');
    const headers = { 'x-gateway-environment': 'development' };
    expect((await gateway.admin.proxy('draft', { headers })).status).toBe(200);
  });

  it('429 rate_limit_exceeded: quota exceeded for the route; wait for the Retry-After header', async () => {
    const statuses = [];
    for (let call = 0; call < 3; call += 1) {
      statuses.push((await gateway.admin.proxy('scarce')).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await gateway.admin.proxy('scarce');
    await expectRefusal(refused, 429, 'rate_limit_exceeded');
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  });

  it('502 upstream_unavailable: upstream not reachable', async () => {
    await expectRefusal(await gateway.admin.proxy('gone'), 502, 'upstream_unavailable');
  });

  it('The 429 message names the route whose quota was exceeded.', async () => {
    await gateway.route({ name: 'named', rate_limit: { limit: 1, window_seconds: 86_400 } });
    await gateway.settled();
    expect((await gateway.admin.proxy('named')).status).toBe(200);
    const refused = await gateway.admin.proxy('named');
    const { message } = await expectRefusal(refused, 429, 'rate_limit_exceeded');
    expect(message).toContain('named');
  });

  it('Rate limit: quota applied per route; remaining count in X-RateLimit-Remaining for the current window', async () => {
    await gateway.admin.proxy('scarce');
    const answer = await gateway.admin.proxy('plenty');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('1');
  });

  it('The version is carried in the path prefix /v1; all shown endpoints are under it.', async () => {
    for (const path of [
      '/services',
      '/routes',
      '/proxy/orders',
      '/v2/services',
      '/v2/proxy/orders',
    ]) {
      await expectRefusal(await gateway.admin.get(path), 404, 'not_found');
    }
  });
});
