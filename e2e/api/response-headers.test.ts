import { rawCall, type RawRequest } from '@gateway/shared/test/raw-client';
import { expectGatewayHeaders } from '@gateway/shared/test/refusal';
import { closedPort } from '@gateway/shared/test/upstream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../harness/client.ts';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

/** A call and its expected status. */
type Case = readonly [method: string, path: string, body: unknown, status: number];

describe('headers on every response', () => {
  let gateway: BorrowedGateway;

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'spoofing', upstreamPath: '/spoof', retry_count: 0 });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/5000', timeout_ms: 200 });
    await gateway.route({ name: 'once-a-day', rate_limit: { limit: 1, window_seconds: 86_400 } });
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { id } = await gateway.service({ url });
    await gateway.route({ name: 'gone', service_id: id, retry_count: 0 });
    for (const status of [204, 301, 400, 401, 404, 429, 500, 503, 504]) {
      const upstreamPath = `/status/${status}`;
      await gateway.route({ name: `status-${status}`, upstreamPath, retry_count: 0 });
    }
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  function expectHeaders(answer: Answer, what: string): void {
    try {
      expectGatewayHeaders(answer.headers);
    } catch (error) {
      throw new Error(`${what}: ${String(error)}`, { cause: error });
    }
  }

  it('are on every response of every management endpoint, at the base URL and at the control plane', async () => {
    const { id: service } = await gateway.service();
    const { id: route } = await gateway.route();
    const { tokenId: token } = await gateway.tokenClient();
    const proxied = await gateway.admin.proxy('orders');
    const request = proxied.headers.get('x-request-id') ?? '';
    const cases: Case[] = [
      ...['services', 'routes', 'tokens', 'environments', 'requests'].flatMap((list): Case[] => [
        ['GET', `/v1/${list}`, undefined, 200],
        ['HEAD', `/v1/${list}`, undefined, 200],
        ['GET', `/v1/${list}?limit=0`, undefined, 400],
        ['GET', `/v1/${list}/none`, undefined, 404],
        ['PUT', `/v1/${list}`, undefined, 405],
      ]),
      ...['services', 'routes', 'tokens', 'environments'].map((list): Case => [
        'POST',
        `/v1/${list}`,
        {},
        400,
      ]),
      ['POST', '/v1/services', '{', 400],
      ['POST', '/v1/routes', { name: 'orders', service_id: service }, 409],
      ['GET', `/v1/services/${service}`, undefined, 200],
      ['PATCH', `/v1/services/${service}`, { health_path: '/a' }, 200],
      ['DELETE', `/v1/services/${service}`, undefined, 204],
      ['GET', `/v1/routes/${route}`, undefined, 200],
      ['PATCH', `/v1/routes/${route}`, { retry_count: 1 }, 200],
      ['DELETE', `/v1/routes/${route}`, undefined, 204],
      ['GET', `/v1/tokens/${token}`, undefined, 200],
      ['POST', `/v1/tokens/${token}/rotate`, {}, 200],
      ['DELETE', `/v1/tokens/${token}`, undefined, 204],
      ['GET', '/v1/environments/production', undefined, 200],
      ['GET', `/v1/requests/${request}`, undefined, 200],
      ['GET', '/v1/openapi.json', undefined, 200],
      ['GET', '/v1/nothing', undefined, 404],
    ];
    for (const [method, path, body, status] of cases) {
      const answer = await gateway.admin.call(method, path, { body });
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expectHeaders(answer, `${method} ${path}`);
      expect(answer.headers.has('x-gateway-error')).toBe(status >= 400);
      const direct = await gateway.admin.at(gateway.controlPlane.baseUrl).call(method, path, {
        token: null,
        body,
      });
      expectHeaders(direct, `${method} ${path} without a token`);
    }
  });

  it('are on every response of the proxy path', async () => {
    await gateway.admin.proxy('once-a-day');
    const cases: [string, number][] = [
      ['orders', 200],
      ['status-204', 204],
      ['status-301', 301],
      ['status-404', 404],
      ['status-500', 500],
      ['unknown', 404],
      ['orders/%252e%252e/a', 400],
      ['once-a-day', 429],
      ['gone', 502],
      ['slow', 504],
    ];
    for (const [route, status] of cases) {
      for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await gateway.admin.proxy(route, { method });
        expect([method, route, answer.status]).toEqual([method, route, status]);
        expectHeaders(answer, `${method} ${route}`);
      }
    }
  });

  it('are on the response to a malformed request, on both ports', async () => {
    const malformed: RawRequest[] = [
      { method: 'NONSENSE' },
      { lines: ['Host: a', 'Host: b'] },
      { lines: [] },
      { lines: ['Host: a', `X-Large: ${'x'.repeat(70_000)}`] },
      { method: 'TRACE' },
    ];
    for (const { baseUrl } of [...gateway.dataPlanes, gateway.controlPlane]) {
      for (const request of malformed) {
        const target = '/v1/proxy/orders';
        const answer = await rawCall(Number(new URL(baseUrl).port), { target, ...request });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
        expectGatewayHeaders(answer.headers);
        expect(JSON.parse(await answer.text())).toMatchObject({
          error: { code: answer.headers.get('x-gateway-error') },
        });
      }
    }
  });

  it('never include X-Gateway-Error if the upstream responded, whatever the status', async () => {
    for (const status of [204, 301, 400, 401, 404, 429, 500, 503, 504]) {
      const answer = await gateway.admin.proxy(`status-${status}`);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('x-upstream')).toBe('yes');
      expect(answer.headers.has('x-gateway-error')).toBe(false);
    }
  });

  it('are the gateway’s own even if the upstream sends headers of the same names', async () => {
    const answer = await gateway.admin.proxy('spoofing');
    expect(answer.status).toBe(500);
    expect(answer.headers.has('x-gateway-error')).toBe(false);
    expectGatewayHeaders(answer.headers);
  });

  it('give every response a different request id', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => gateway.admin.proxy('orders')),
      ...Array.from({ length: 10 }, () => gateway.admin.get('/v1/services')),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(20);
  });
});
