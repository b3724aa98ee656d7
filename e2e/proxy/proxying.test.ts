import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import type { SeenRequest } from '@gateway/shared/test/upstream';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

describe('POST /v1/proxy/{route}', () => {
  let gateway: BorrowedGateway;
  const last = (): SeenRequest | undefined => gateway.upstream.seen.at(-1);

  beforeAll(async () => {
    gateway = await borrowGateway();
    await gateway.route({ name: 'orders' });
    await gateway.route({ name: 'payments', upstreamPath: '/payments' });
    for (const status of [200, 201, 204, 302, 400, 401, 404, 409, 418, 429, 500]) {
      const upstreamPath = `/status/${status}`;
      await gateway.route({ name: `status-${status}`, upstreamPath, retry_count: 0 });
    }
    await gateway.route({ name: 'counted', rate_limit: { limit: 3, window_seconds: 86_400 } });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('Forwards a request through the route named {route}.', async () => {
    expect((await gateway.admin.proxy('payments')).json()).toMatchObject({ upstream: '/payments' });
    expect((await gateway.admin.proxy('orders')).json()).toMatchObject({ upstream: '/' });
  });

  it('Query parameters are sent to the upstream service.', async () => {
    await gateway.admin.proxy('orders?a=1&b=two%20words&a=3&empty=');
    expect(last()?.url).toBe('/?a=1&b=two%20words&a=3&empty=');
  });

  it('The body is sent to the upstream service.', async () => {
    const body = JSON.stringify({ amount: 1200, note: 'x'.repeat(200_000) });
    await gateway.admin.proxy('orders', { body });
    expect(last()?.body === body).toBe(true);
  });

  it('Supported headers are sent to the upstream service.', async () => {
    const headers = { 'accept-language': 'de', 'x-tenant': 'blue', 'content-type': 'text/csv' };
    await gateway.admin.proxy('orders', { headers, body: 'a,b' });
    expect(last()?.headers).toMatchObject(headers);
  });

  it('Idempotency-Key is an optional request header, a string chosen by the caller.', async () => {
    const headers = { 'idempotency-key': 'order-77' };
    expect((await gateway.admin.proxy('orders', { headers })).status).toBe(200);
    expect((await gateway.admin.proxy('orders')).status).toBe(200);
  });

  it('A key must be reused only for the same request body; otherwise the response is 409 idempotency_conflict.', async () => {
    const headers = { 'idempotency-key': 'order-78' };
    const first = await gateway.admin.proxy('orders', { headers, body: { amount: 1 } });
    const second = gateway.admin.at(gateway.dataPlanes[1]?.baseUrl ?? '');
    const same = await second.proxy('orders', { headers, body: { amount: 1 } });
    expect([same.status, same.body]).toEqual([first.status, first.body]);
    const other = await second.proxy('orders', { headers, body: { amount: 2 } });
    await expectRefusal(other, 409, 'idempotency_conflict');
  });

  it('Request body: whatever the upstream expects.', async () => {
    const bodies = [
      ['application/json', '{"a": 1}'],
      ['application/x-www-form-urlencoded', 'a=1&b=2'],
      ['text/plain', 'neither { nor ['],
      ['application/octet-stream', '\u0001\u0002'],
    ] as const;
    for (const [type, body] of bodies) {
      const answer = await gateway.admin.proxy('orders', {
        headers: { 'content-type': type },
        body,
      });
      expect(answer.status).toBe(200);
      expect(last()).toMatchObject({ body, headers: { 'content-type': type } });
    }
  });

  it('Response: the upstream status code and body are returned unchanged.', async () => {
    for (const status of [200, 201, 302, 400, 401, 404, 409, 418, 429, 500]) {
      const answer = await gateway.admin.proxy(`status-${status}`);
      expect(answer.status).toBe(status);
      expect(answer.body).toBe(`{"upstream":"/status/${status}","method":"POST"}`);
      expect(answer.headers.get('x-upstream')).toBe('yes');
    }
    const empty = await gateway.admin.proxy('status-204');
    expect([empty.status, empty.body]).toEqual([204, '']);
  });

  it('Gateway metadata is added in headers.', async () => {
    for (const status of [200, 404, 500]) {
      expectGatewayHeaders((await gateway.admin.proxy(`status-${status}`)).headers);
    }
  });

  it('X-Request-Id is on every response: a stable identifier of the request, for logs and support.', async () => {
    const answer = await gateway.admin.proxy('orders');
    const id = answer.headers.get('x-request-id') ?? '';
    expect(last()?.headers['x-request-id']).toBe(id);
    expect((await gateway.admin.get(`/v1/requests/${id}`)).json()).toMatchObject({ data: { id } });
    const another = await gateway.admin.proxy('orders');
    expect(another.headers.get('x-request-id')).not.toBe(id);
  });

  it('X-Gateway-Latency is on every response: an integer, the gateway processing time in milliseconds.', async () => {
    await gateway.route({ name: 'waiting', upstreamPath: '/slow/400' });
    await gateway.settled();
    const startedMs = performance.now();
    const answer = await gateway.admin.proxy('waiting');
    const latency = answer.headers.get('x-gateway-latency') ?? '';
    expect(latency).toMatch(/^\d+$/);
    // The wait for the upstream is not included.
    expect(Number(latency)).toBeLessThan(performance.now() - startedMs - 300);
  });

  it('X-RateLimit-Remaining is on every response: an integer, the requests left in the current window.', async () => {
    const remaining: (string | null)[] = [];
    for (let call = 0; call < 4; call += 1) {
      const answer = await gateway.admin.proxy('counted');
      remaining.push(answer.headers.get('x-ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0', '0']);
    await expectRefusal(await gateway.admin.proxy('counted'), 429, 'rate_limit_exceeded');
  });
});
