import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/shared/test/eventually';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

/** What the interface promises, once each, over real processes. The suites of each part have the details. */
describe('the gateway, end to end', () => {
  let gateway: BorrowedGateway;
  const last = () => gateway.upstream.seen.at(-1);

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'draft', environment: 'development', upstreamPath: '/draft' });
    await gateway.route({ name: 'counted', rate_limit: { limit: 3, window_seconds: 86_400 } });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/5000', timeout_ms: 300 });
    await gateway.route({ name: 'waiting', upstreamPath: '/slow/400' });
    await gateway.route({ name: 'failing', upstreamPath: '/status/503', retry_count: 2 });
    for (const status of [200, 201, 204, 302, 400, 401, 404, 409, 418, 429, 500]) {
      const upstreamPath = `/status/${status}`;
      await gateway.route({ name: `status-${status}`, upstreamPath, retry_count: 0 });
    }
    await gateway.settled();
    await gateway.settled('development');
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('is configured by the management endpoints, whose paths are relative to {base_url}', async () => {
    for (const { baseUrl } of [...gateway.dataPlanes, gateway.controlPlane]) {
      const admin = gateway.admin.at(baseUrl);
      const serviceName = `s${new URL(baseUrl).port}`;
      const service = await admin.create('/v1/services', {
        name: serviceName,
        environment: 'production',
        url: `${gateway.upstream.url}/base`,
        health_path: '/alive',
      });
      const name = `r${new URL(baseUrl).port}`;
      const route = await admin.create('/v1/routes', { name, service_id: service.id });
      expect(route).toMatchObject({ name, timeout_ms: 10_000, retry_count: 2 });
      expect((await admin.get(`/v1/services?name=${serviceName}`)).page().data).toEqual([
        { ...service, status: expect.any(String) as unknown },
      ]);
      await gateway.settled();
      expect((await gateway.admin.proxy(name)).json()).toMatchObject({ upstream: '/base' });
    }
  });

  it('applies authentication before traffic reaches the upstream', async () => {
    const before = gateway.upstream.seen.length;
    const production = await gateway.tokenClient({ environments: ['production'] });
    await gateway.settled();
    const headers = { 'x-gateway-environment': 'development' };
    for (const refused of [
      await gateway.admin.proxy('orders', { token: null }),
      await gateway.admin.get('/v1/services', { token: null }),
      await production.proxy('draft', { headers }),
    ]) {
      await expectRefusal(refused, 401, 'authentication_failed');
    }
    expect(gateway.upstream.seen).toHaveLength(before);
    await expectRefusal(await gateway.admin.proxy('draft'), 404, 'route_not_found');
    expect((await gateway.admin.proxy('draft', { headers })).status).toBe(200);
  });

  it('applies quotas before traffic reaches the upstream, and says what is left', async () => {
    const remaining: (string | null)[] = [];
    for (let call = 0; call < 3; call += 1) {
      const answer = await gateway.admin.proxy('counted');
      remaining.push(answer.headers.get('x-ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0']);
    const before = gateway.upstream.seen.length;
    const refused = await gateway.admin.proxy('counted');
    const { message } = await expectRefusal(refused, 429, 'rate_limit_exceeded');
    expect(message).toContain('counted');
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(gateway.upstream.seen).toHaveLength(before);
  });

  it('applies timeouts and bounded retries while traffic reaches the upstream', async () => {
    const startedMs = performance.now();
    await expectRefusal(await gateway.admin.proxy('slow'), 504, 'upstream_timeout');
    expect(performance.now() - startedMs).toBeLessThan(4000);
    const asked = () => gateway.upstream.seen.filter((seen) => seen.url === '/status/503').length;
    const before = asked();
    expect((await gateway.admin.proxy('failing', { method: 'GET' })).status).toBe(503);
    expect(asked() - before).toBe(3);
  });

  it('sends query, body and supported headers to the upstream', async () => {
    const body = JSON.stringify({ amount: 1200, note: 'x'.repeat(200_000) });
    await gateway.admin.proxy('orders?a=1&b=two%20words&a=3&empty=', { body });
    expect(last()?.url).toBe('/?a=1&b=two%20words&a=3&empty=');
    expect(last()?.body === body).toBe(true);
    for (const [type, text] of [
      ['application/x-www-form-urlencoded', 'a=1&b=2'],
      ['text/plain', 'neither { nor ['],
      ['application/octet-stream', '\u0001\u0002'],
    ] as const) {
      const headers = { 'accept-language': 'de', 'x-tenant': 'blue', 'content-type': type };
      expect((await gateway.admin.proxy('orders', { headers, body: text })).status).toBe(200);
      expect(last()).toMatchObject({ body: text, headers });
    }
  });

  it('returns status and body of the upstream unchanged, with the headers of the gateway', async () => {
    for (const status of [200, 201, 302, 400, 401, 404, 409, 418, 429, 500]) {
      const answer = await gateway.admin.proxy(`status-${status}`);
      expect(answer.status).toBe(status);
      expect(answer.body).toBe(`{"upstream":"/status/${status}","method":"POST"}`);
      expect(answer.headers.get('x-upstream')).toBe('yes');
      expectGatewayHeaders(answer.headers);
    }
    const empty = await gateway.admin.proxy('status-204');
    expect([empty.status, empty.body]).toEqual([204, '']);
  });

  it('carries a request identifier, by which a request is followed in upstream, log and record', async () => {
    const answer = await gateway.admin.proxy('orders');
    const id = answer.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^req_/);
    expect(last()?.headers['x-request-id']).toBe(id);
    await eventually(async () => {
      const log = await readFile(gateway.dataPlanes[0]?.logFile ?? '', 'utf8');
      const lines = log.split('\n').filter((line) => line.includes(`"gateway.request.id":"${id}"`));
      expect(lines).toHaveLength(1);
    });
    const record = await gateway.admin.get(`/v1/requests/${id}`);
    expect(record.json()).toMatchObject({ data: { id, route: 'orders', outcome: 'success' } });
    const keptMs =
      Date.parse(String(record.resource()['expires_at'])) -
      Date.parse(String(record.resource()['received_at']));
    expect(keptMs).toBe(30 * 24 * 60 * 60 * 1000);
  });

  it('says in X-Gateway-Latency how many milliseconds it took itself', async () => {
    const startedMs = performance.now();
    const answer = await gateway.admin.proxy('waiting');
    const latency = answer.headers.get('x-gateway-latency') ?? '';
    expect(latency).toMatch(/^\d+$/);
    // The wait for the upstream is not included.
    expect(Number(latency)).toBeLessThan(performance.now() - startedMs - 300);
  });
});
