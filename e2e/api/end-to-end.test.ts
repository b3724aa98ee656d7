import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('the gateway, end to end', () => {
  let gateway: BorrowedGateway;
  const url = () => gateway.upstream.url;

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'teapot', upstreamPath: '/status/418' });
    await gateway.route({
      name: 'one-a-day',
      rate_limit: { limit: 1, window_seconds: 86_400, per: 'route' },
    });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/5000', timeout_ms: 300 });
    await gateway.route({ name: 'failing', upstreamPath: '/status/503', retry_count: 2 });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('Management endpoints configure the gateway (services, routes). They return a JSON object.', async () => {
    const { admin } = gateway;
    const service = await admin.post('/v1/services', {
      name: 'a',
      environment: 'production',
      url: url(),
    });
    const { id } = service.resource();
    const route = await admin.post('/v1/routes', { name: 'a', service_id: id });
    const lists = [await admin.get('/v1/services'), await admin.get('/v1/routes')];
    for (const answer of [service, route, ...lists]) {
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.json()).toEqual(expect.any(Object));
    }
    await gateway.settled();
    expect((await admin.proxy('a')).status).toBe(200);
  });

  it('Proxy endpoints carry application traffic to an upstream service through a named route. They preserve the upstream status code and body.', async () => {
    const answer = await gateway.admin.proxy('teapot', { body: { sugar: true } });
    expect(answer.status).toBe(418);
    expect(answer.body).toBe('{"upstream":"/status/418","method":"POST"}');
    expect(gateway.upstream.seen.at(-1)).toMatchObject({
      url: '/status/418',
      body: '{"sugar":true}',
    });
  });

  it('The gateway applies authentication before traffic reaches the upstream.', async () => {
    const before = gateway.upstream.seen.length;
    const refused = await gateway.admin.proxy('orders', { token: null });
    await expectRefusal(refused, 401, 'authentication_failed');
    expect(gateway.upstream.seen).toHaveLength(before);
  });

  it('The gateway applies quotas (rate limits) before traffic reaches the upstream.', async () => {
    expect((await gateway.admin.proxy('one-a-day')).status).toBe(200);
    const before = gateway.upstream.seen.length;
    await expectRefusal(await gateway.admin.proxy('one-a-day'), 429, 'rate_limit_exceeded');
    expect(gateway.upstream.seen).toHaveLength(before);
  });

  it('The gateway applies timeouts while traffic reaches the upstream.', async () => {
    const startedMs = performance.now();
    await expectRefusal(await gateway.admin.proxy('slow'), 504, 'upstream_timeout');
    expect(performance.now() - startedMs).toBeLessThan(4000);
  });

  it('The gateway applies bounded retries while traffic reaches the upstream.', async () => {
    const asked = () => gateway.upstream.seen.filter((seen) => seen.url === '/status/503').length;
    const before = asked();
    const answer = await gateway.admin.proxy('failing', { method: 'GET' });
    expect(answer.status).toBe(503);
    expect(asked() - before).toBe(3);
  });

  it('Every response carries a request identifier, so that one request can be followed end to end in logs and support.', async () => {
    const answer = await gateway.admin.proxy('orders');
    const id = answer.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^req_/);
    expect(gateway.upstream.seen.at(-1)?.headers['x-request-id']).toBe(id);
    await eventually(async () => {
      const log = await readFile(gateway.dataPlanes[0]?.logFile ?? '', 'utf8');
      const lines = log.split('\n').filter((line) => line.includes(`"gateway.request.id":"${id}"`));
      expect(lines).toHaveLength(1);
    });
    const record = await gateway.admin.get(`/v1/requests/${id}`);
    expect(record.json()).toMatchObject({ data: { id, route: 'orders' } });
  });

  it('A service is configured with a service URL and a health path.', async () => {
    const service = await gateway.service({ url: `${url()}/base`, health_path: '/alive' });
    const read = await gateway.admin.get(`/v1/services/${service.id}`);
    expect(read.json()).toMatchObject({ data: { url: `${url()}/base`, health_path: '/alive' } });
    await gateway.route({ name: 'configured', service_id: service.id });
    await gateway.settled();
    await gateway.admin.proxy('configured');
    expect(gateway.upstream.seen.at(-1)?.url).toBe('/base');
  });
});
