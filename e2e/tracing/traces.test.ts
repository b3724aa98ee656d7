import { eventually } from '@gateway/shared/test/eventually';
import { startOtlpReceiver, type OtlpReceiver } from '@gateway/shared/test/otlp-receiver';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const SERVER = 2;
const CLIENT = 3;
const FAILED = 2;
const CONTROL_PLANE = 'gateway-control-plane';
const parent = (trace: string, flags: string) => `00-${trace}-00f067aa0ba902b7-${flags}`;
const trace = (digit: string) => digit.repeat(32);

describe('traces over OTLP, sampled by the parent, else never', () => {
  let gateway: Gateway;
  let receiver: OtlpReceiver;

  const spansOf = (traceId: string, count: number) =>
    eventually(() => {
      const spans = receiver.spans.filter((span) => span.traceId === traceId);
      expect(spans).toHaveLength(count);
      return spans;
    });
  const seen = (traceId: string) =>
    gateway.upstream.seen
      .map(({ headers }) => String(headers['traceparent']))
      .filter((field) => field.includes(traceId));

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    gateway = await startGateway({
      env: {
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme%20inc',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_BSP_SCHEDULE_DELAY: '50',
      },
    });
    await gateway.route({ name: 'orders' });
    await gateway.route({
      name: 'flaky',
      upstreamPath: '/flaky/1/x',
      retry: { backoff_ms: 1 },
      retry_count: 2,
    });
    await gateway.route({ name: 'failing', upstreamPath: '/status/500' });
    await gateway.settled();
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await receiver.close();
  });

  it('a request of a sampled trace has a span, and one for its attempt, which the upstream sees', async () => {
    const id = trace('a');
    const answer = await gateway.admin.proxy('orders/7?token=query-value', {
      method: 'GET',
      headers: { traceparent: parent(id, '01') },
    });
    expect(answer.status).toBe(200);
    const spans = await spansOf(id, 2);
    const server = spans.find(({ kind }) => kind === SERVER);
    const client = spans.find(({ kind }) => kind === CLIENT);
    const requestId = answer.headers.get('x-request-id');
    expect(server).toMatchObject({
      name: 'GET /v1/proxy/orders',
      parentSpanId: '00f067aa0ba902b7',
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/v1/proxy/orders',
        'url.path': '/v1/proxy/orders/7',
        'url.scheme': 'http',
        'http.response.status_code': 200,
        'network.protocol.version': '1.1',
        'client.address': '127.0.0.1',
        'gateway.request.id': requestId,
        'gateway.outcome': 'success',
      },
      resource: {
        'service.name': 'gateway-data-plane',
        'deployment.environment.name': 'test',
      },
    });
    expect(client).toMatchObject({
      name: 'GET',
      parentSpanId: server?.spanId,
      attributes: {
        'server.address': '127.0.0.1',
        'server.port': gateway.upstream.port,
        'url.full': `${gateway.upstream.url}/7`,
        'http.response.status_code': 200,
      },
    });
    expect(client?.attributes).not.toHaveProperty('http.request.resend_count');
    expect(seen(id)).toEqual([`00-${id}-${client?.spanId}-01`]);
    expect(server?.startMs).toBeLessThanOrEqual(client?.startMs ?? 0);
    expect(server?.endMs).toBeGreaterThanOrEqual(client?.endMs ?? Infinity);
    const record = await gateway.admin.get(`/v1/requests/${requestId}`);
    expect(record.resource()['trace_id']).toBe(id);
    expect(receiver.requests.at(-1)).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-tenant': 'acme inc', 'content-encoding': 'gzip' },
    });
  });

  it('each retry is an attempt span of its own, with its number and what failed', async () => {
    const id = trace('b');
    await gateway.admin.proxy('flaky', {
      method: 'GET',
      headers: { traceparent: parent(id, '01') },
    });
    const spans = await spansOf(id, 3);
    const clients = spans.filter(({ kind }) => kind === CLIENT);
    expect(clients).toEqual([
      expect.objectContaining({
        status: FAILED,
        attributes: expect.objectContaining({
          'http.response.status_code': 503,
          'error.type': '503',
          'gateway.retry.reason': 'method_idempotent',
        }),
      }),
      expect.objectContaining({
        status: 0,
        attributes: expect.objectContaining({
          'http.request.resend_count': 1,
          'http.response.status_code': 200,
        }),
      }),
    ]);
    expect(seen(id)).toEqual(clients.map(({ spanId }) => `00-${id}-${spanId}-01`));
  });

  it('a failed request and a refused one have spans that say so', async () => {
    const headers = (id: string) => ({ traceparent: parent(id, '01') });
    await gateway.admin.proxy('failing', { headers: headers(trace('c')) });
    await gateway.admin.proxy('orders', { headers: headers(trace('d')), token: 'gwt_wrong' });
    const failed = (await spansOf(trace('c'), 2)).find(({ kind }) => kind === SERVER);
    expect(failed).toMatchObject({ status: FAILED, attributes: { 'error.type': '500' } });
    const [refused] = await spansOf(trace('d'), 1);
    expect(refused).toMatchObject({
      status: 0,
      attributes: { 'gateway.error.code': 'authentication_failed', 'gateway.outcome': 'rejected' },
    });
  });

  it('a request without a parent, or of a trace that is not sampled, has none', async () => {
    const id = trace('e');
    await gateway.admin.proxy('orders', { headers: { traceparent: parent(id, '00') } });
    const answer = await gateway.admin.proxy('orders');
    const last = trace('9');
    await gateway.admin.proxy('orders', { headers: { traceparent: parent(last, '01') } });
    await spansOf(last, 2);
    const record = await gateway.admin.get(`/v1/requests/${answer.headers.get('x-request-id')}`);
    const own = String(record.resource()['trace_id']);
    const ids = new Set(receiver.spans.map(({ traceId }) => traceId));
    expect([ids.has(id), ids.has(own)]).toEqual([false, false]);
    expect(seen(id)[0]).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-00$`));
    expect(seen(own)[0]).toMatch(/-00$/);
  });

  it('a management call has a span of each plane that it passes', async () => {
    const id = trace('2');
    const answer = await gateway.admin.get('/v1/services?name=query-value', {
      headers: { traceparent: parent(id, '01') },
    });
    const spans = await spansOf(id, 2);
    const inDataPlane = spans.find(({ resource }) => resource['service.name'] !== CONTROL_PLANE);
    const inControlPlane = spans.find(({ resource }) => resource['service.name'] === CONTROL_PLANE);
    expect(inDataPlane).toMatchObject({ name: 'GET', parentSpanId: '00f067aa0ba902b7' });
    expect(inControlPlane).toMatchObject({
      name: 'GET /v1/services',
      kind: SERVER,
      parentSpanId: inDataPlane?.spanId,
      attributes: {
        'http.response.status_code': 200,
        'gateway.request.id': answer.headers.get('x-request-id'),
      },
    });
  });

  it('nothing secret is sent: no token, query value, header or body', async () => {
    const id = trace('1');
    const headers = {
      traceparent: parent(id, '01'),
      'x-custom': 'header-value',
      cookie: 'header-value',
    };
    await gateway.admin.proxy(`orders/${gateway.stack.adminToken}?q=query-value`, {
      headers,
      body: { note: 'body-value' },
    });
    await spansOf(id, 2);
    const bytes = receiver.bytes();
    expect(bytes).toContain('gateway.request.id');
    expect(bytes).not.toMatch(/gwt_|query-value|header-value|body-value/);
    expect(bytes).not.toContain(gateway.stack.adminToken);
  });
});

describe('traces over OTLP, sampled by ratio', () => {
  it('are those whose id says so, and no other', async () => {
    const receiver = await startOtlpReceiver();
    const gateway = await startGateway({
      env: {
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
        OTEL_SERVICE_NAME: 'edge',
        OTEL_BSP_SCHEDULE_DELAY: '20',
      },
    });
    try {
      await gateway.route({ name: 'orders' });
      await gateway.settled();
      const ids: string[] = [];
      for (let sent = 0; sent < 80; sent += 1) {
        await gateway.admin.proxy('orders');
        const field = String(gateway.upstream.seen.at(-1)?.headers['traceparent']);
        const [, id = '', , flags] = field.split('-');
        expect(flags).toBe(id.charAt(18) >= 'c' ? '01' : '00');
        if (flags === '01') ids.push(id);
      }
      const served = () =>
        receiver.spans.filter(({ attributes }) => attributes['http.route'] === '/v1/proxy/orders');
      await eventually(() => {
        expect(served().map(({ traceId }) => traceId)).toEqual(ids);
      });
      expect(ids.length).toBeGreaterThan(0);
      expect(served()[0]?.resource['service.name']).toBe('edge');
    } finally {
      await gateway.close();
      await receiver.close();
    }
  }, 60_000);
});
