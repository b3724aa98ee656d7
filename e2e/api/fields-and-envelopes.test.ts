import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectRefusal } from '@gateway/shared/test/refusal';
import type { Resource } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('fields of resources, and envelopes', () => {
  let gateway: BorrowedGateway;
  let service: Resource;

  const read = async (path: string): Promise<Resource> =>
    (await gateway.admin.get(path)).resource();
  const recordOf = async (route: string): Promise<Resource> => {
    const answer = await gateway.admin.proxy(route, { method: 'GET' });
    return read(`/v1/requests/${answer.headers.get('x-request-id')}`);
  };

  beforeAll(async () => {
    gateway = await borrowGateway();
    service = await gateway.service({ name: 'billing' });
    await gateway.route({ name: 'invoices', service_id: service.id });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/5000', timeout_ms: 150 });
    await gateway.route({ name: 'flaky', upstreamPath: '/flaky/1/a', retry_count: 1 });
    await gateway.route({ name: 'failing', upstreamPath: '/status/502', retry_count: 0 });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('Service: id is a string, the identifier of the service', async () => {
    expect(service.id).toMatch(/^svc_/);
    expect((await read(`/v1/services/${service.id}`)).id).toBe(service.id);
  });

  it('Service: name is a string, the name of the service', async () => {
    expect((await read(`/v1/services/${service.id}`))['name']).toBe('billing');
  });

  it('Service: status is a string, the health of the service', async () => {
    expect((await read(`/v1/services/${service.id}`))['status']).toEqual(expect.any(String));
  });

  it('A service also has a service URL and a health path when it is added.', async () => {
    const added = await gateway.service({ url: gateway.upstream.url, health_path: '/up' });
    expect(added).toMatchObject({ url: gateway.upstream.url, health_path: '/up' });
  });

  it('Route: name is required', async () => {
    const answer = await gateway.admin.post('/v1/routes', { service_id: service.id });
    const { details } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details).toEqual([{ path: 'name', message: 'is required' }]);
  });

  it('Route: name is unique within an environment', async () => {
    const again = { name: 'invoices', service_id: service.id };
    await expectRefusal(await gateway.admin.post('/v1/routes', again), 409, 'name_conflict');
    const elsewhere = await gateway.route({ name: 'invoices', environment: 'development' });
    expect(elsewhere).toMatchObject({ name: 'invoices', environment: 'development' });
  });

  it('Route: name is used as {route} in the proxy path', async () => {
    expect((await gateway.admin.call('POST', '/v1/proxy/invoices')).status).toBe(200);
  });

  it('Route: service_id is required', async () => {
    const answer = await gateway.admin.post('/v1/routes', { name: 'alone' });
    const { details } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details).toEqual([{ path: 'service_id', message: 'is required' }]);
  });

  it('Route: service_id is the identifier of an existing service', async () => {
    const unknown = { name: 'nowhere', service_id: `svc_${'0'.repeat(26)}` };
    const answer = await gateway.admin.post('/v1/routes', unknown);
    const { details } = await expectRefusal(answer, 400, 'invalid_request');
    expect(details).toEqual([{ path: 'service_id', message: 'must be the id of a service' }]);
  });

  it('Route: timeout_ms is the timeout in milliseconds', async () => {
    const startedMs = performance.now();
    const answer = await gateway.admin.proxy('slow');
    const tookMs = performance.now() - startedMs;
    expect(answer.status).toBe(504);
    expect(tookMs).toBeGreaterThanOrEqual(150);
    expect(tookMs).toBeLessThan(4000);
  });

  it('Route: retry_count is the number of retries', async () => {
    const asked = (url: string) => gateway.upstream.seen.filter((seen) => seen.url === url).length;
    expect((await gateway.admin.proxy('flaky', { method: 'GET' })).status).toBe(200);
    expect(asked('/flaky/1/a')).toBe(2);
    expect((await gateway.admin.proxy('failing', { method: 'GET' })).status).toBe(502);
    expect(asked('/status/502')).toBe(1);
  });

  it('Explicit defaults exist for timeouts and retry behavior.', async () => {
    const route = await gateway.admin.create('/v1/routes', {
      name: 'by-default',
      service_id: service.id,
    });
    expect(route).toMatchObject({ timeout_ms: 10_000, retry_count: 2 });
  });

  it('One record per proxied request, addressed by <request_id>', async () => {
    const answer = await gateway.admin.proxy('invoices');
    const id = answer.headers.get('x-request-id') ?? '';
    expect((await read(`/v1/requests/${id}`)).id).toBe(id);
    const list = await gateway.admin.get('/v1/requests?route=invoices&limit=200');
    const ids = list.page().data.map((record) => record.id);
    expect(ids.filter((one) => one === id)).toHaveLength(1);
  });

  it('The record carries gateway timing', async () => {
    const { timing } = await recordOf('invoices');
    expect(timing).toEqual({
      gateway_ms: expect.any(Number),
      receiving_ms: expect.any(Number),
      waiting_ms: expect.any(Number),
      upstream_ms: expect.any(Number),
      sending_ms: expect.any(Number),
      total_ms: expect.any(Number),
    });
  });

  it('The record carries the selected upstream', async () => {
    expect((await recordOf('invoices'))['upstream']).toMatchObject({ url: gateway.upstream.url });
  });

  it('The record carries the retry count', async () => {
    await gateway.route({ name: 'flaky-twice', upstreamPath: '/flaky/2/b', retry_count: 2 });
    await gateway.settled();
    expect((await recordOf('flaky-twice'))['retry_count']).toBe(2);
    expect((await recordOf('invoices'))['retry_count']).toBe(0);
  });

  it('The record carries the final outcome', async () => {
    expect((await recordOf('invoices'))['outcome']).toBe('success');
    expect((await recordOf('failing'))['outcome']).toBe('upstream_error');
    expect((await recordOf('slow'))['outcome']).toBe('timeout');
  });

  it('Records are retained for 30 days.', async () => {
    const record = await recordOf('invoices');
    const keptMs =
      Date.parse(String(record['expires_at'])) - Date.parse(String(record['received_at']));
    expect(keptMs).toBe(30 * 24 * 60 * 60 * 1000);
  });

  it('List/success body: object with data (array of resources) and request_id (string)', async () => {
    for (const path of ['/v1/services', '/v1/routes', '/v1/requests']) {
      const answer = await gateway.admin.get(path);
      const body = answer.page();
      expect(body.data.length).toBeGreaterThan(0);
      expect(body.data.every(({ id }) => typeof id === 'string')).toBe(true);
      expect(body.request_id).toBe(answer.headers.get('x-request-id'));
    }
  });

  it('Error body: object with error object: code (string), message (string), request_id (string)', async () => {
    const management = await gateway.admin.get('/v1/services/none');
    const proxied = await gateway.admin.proxy('none');
    for (const answer of [management, proxied]) {
      expect(answer.json()).toEqual({
        error: {
          code: expect.any(String),
          message: expect.any(String),
          request_id: answer.headers.get('x-request-id'),
        },
      });
    }
  });
});
