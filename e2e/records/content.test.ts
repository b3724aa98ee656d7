import { closedPort } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Client, Resource } from '../harness/client.ts';
import { percentile } from '../harness/figures.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
/** Between two processes of one machine. */
const CLOCK_ERROR_MS = 100;
const idOf = (answer: Answer) => answer.headers.get('x-request-id') ?? '';

describe('the record of a request', () => {
  let gateway: Gateway;
  let reader: Client;
  let orders: Resource;
  const recordOf = async (answer: Answer): Promise<Resource> => {
    const found = await reader.get(`/v1/requests/${idOf(answer)}`);
    if (found.status !== 200) throw new Error(`no record: ${found.status} ${found.body}`);
    return found.resource();
  };

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 2 });
    const second = await gateway.stack.startControlPlane();
    reader = gateway.admin.at(second.baseUrl);
    orders = await gateway.route({ name: 'orders', upstreamPath: '/base' });
    await gateway.route({ name: 'flaky', upstreamPath: '/flaky/2/r', retry_count: 2 });
    await gateway.route({ name: 'scarce', rate_limit: { limit: 1, window_seconds: 86_400 } });
    await gateway.route({ name: 'posts', methods: ['POST'] });
    await gateway.route({ name: 'small', max_body_bytes: 10 });
    await gateway.route({ name: 'slow', upstreamPath: '/slow/5000', timeout_ms: 400 });
    await gateway.route({ name: 'failing', upstreamPath: '/status/500', retry_count: 0 });
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { id } = await gateway.service({ url });
    await gateway.route({ name: 'gone', service_id: id, retry_count: 1 });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(() => gateway.close());

  it('is found by id within a second after the response, at either control plane', async () => {
    const waitsMs: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      const { baseUrl } = gateway.dataPlanes[count % 2] ?? gateway.controlPlane;
      const answer = await gateway.admin.at(baseUrl).proxy('orders');
      const startedMs = performance.now();
      const through = count % 4 < 2 ? reader : gateway.admin;
      const found = await through.get(`/v1/requests/${idOf(answer)}`);
      waitsMs.push(performance.now() - startedMs);
      expect(found.resource().id).toBe(idOf(answer));
    }
    const [median, p95, max] = [0.5, 0.95, 1].map((rank) => percentile(waitsMs, rank));
    process.stderr.write(
      `record found after the response, 40 requests: median ${median?.toFixed(0)} ms, ` +
        `p95 ${p95?.toFixed(0)} ms, max ${max?.toFixed(0)} ms\n`,
    );
    expect(median).toBeLessThan(1000);
  });

  it('has every field that the API promises', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const sentMs = Date.now();
    const answer = await gateway.admin.proxy('orders/a/b?secret=1', {
      body: 'abcde',
      headers: {
        'x-request-id': 'mine-42',
        'x-forwarded-for': '203.0.113.9',
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
    });
    const answeredMs = Date.now();
    const record = await recordOf(answer);
    const { id: service, upstreamUrl } = await gateway.admin
      .get(`/v1/services/${String(orders['service_id'])}`)
      .then((found) => ({ id: found.resource().id, upstreamUrl: found.resource()['url'] }));
    const attempt = { started_ms: expect.any(Number), duration_ms: expect.any(Number) };
    expect(record).toEqual({
      id: idOf(answer),
      environment: 'production',
      route: 'orders',
      route_version: null,
      service_id: service,
      method: 'POST',
      path: '/v1/proxy/orders/a/b',
      status: 200,
      outcome: 'success',
      error_code: null,
      error_stage: null,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      timing: {
        gateway_ms: expect.any(Number),
        receiving_ms: expect.any(Number),
        waiting_ms: expect.any(Number),
        upstream_ms: expect.any(Number),
        sending_ms: expect.any(Number),
        total_ms: expect.any(Number),
      },
      waits: record['waits'],
      upstream: { id: expect.stringMatching(/^ups_/), url: upstreamUrl, region: null },
      retry_count: 0,
      attempts: [{ upstream: expect.any(String), region: null, status: 200, ...attempt }],
      rate_limit: {
        limit: 60_000,
        remaining: Number(answer.headers.get('x-ratelimit-remaining')),
        reset_seconds: Number(answer.headers.get('x-ratelimit-reset')),
      },
      idempotency: null,
      token_id: expect.stringMatching(/^tok_/),
      subject: null,
      claims: null,
      client_ip: '203.0.113.9',
      client_request_id: 'mine-42',
      request_bytes: 5,
      response_bytes: answer.body.length,
      data_plane: gateway.dataPlanes[0]?.name,
      config_version: expect.any(Number),
      trace_id: traceId,
      header_names: expect.arrayContaining(['host', 'traceparent', 'x-request-id']),
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      request_content_length: 5,
      kind: 'request',
      match: null,
      caller_id: null,
      would_refuse: null,
      units: null,
      upstream_request_id: null,
      expires_at: expect.stringMatching(/Z$/),
    });
    const receivedMs = Date.parse(String(record['received_at']));
    expect(receivedMs).toBeGreaterThanOrEqual(sentMs - CLOCK_ERROR_MS);
    expect(receivedMs).toBeLessThanOrEqual(answeredMs + CLOCK_ERROR_MS);
    expect(gateway.upstream.seen.at(-1)?.headers['traceparent']).toContain(traceId);
  });

  it('lists each attempt of a request that was retried', async () => {
    const record = await recordOf(await gateway.admin.proxy('flaky', { method: 'GET' }));
    const attempts = record['attempts'] as { status: number; started_ms: number }[];
    expect(record).toMatchObject({ status: 200, outcome: 'success', retry_count: 2 });
    expect(attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
    const starts = attempts.map(({ started_ms }) => started_ms);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    const gone = await recordOf(await gateway.admin.proxy('gone'));
    expect(gone).toMatchObject({
      outcome: 'upstream_unavailable',
      retry_count: 1,
      attempts: [{ error: expect.any(String) }, { error: expect.any(String) }],
    });
  });

  it('exists for refused and failed requests too, with their outcome', async () => {
    await gateway.admin.proxy('scarce');
    const rejected = { outcome: 'rejected', upstream: null, attempts: [], retry_count: 0 };
    const cases: [string, Parameters<Client['proxy']>[1], object][] = [
      [
        'orders',
        { token: null },
        {
          status: 401,
          error_code: 'authentication_failed',
          error_stage: 'authenticate',
          ...rejected,
        },
      ],
      [
        'unknown',
        {},
        { status: 404, error_code: 'route_not_found', error_stage: 'authorize', ...rejected },
      ],
      [
        'scarce',
        {},
        { status: 429, error_code: 'rate_limit_exceeded', error_stage: 'quota', ...rejected },
      ],
      [
        'posts',
        { method: 'PUT' },
        { status: 405, error_code: 'method_not_allowed', error_stage: 'authorize', ...rejected },
      ],
      [
        'orders/%252e%252e',
        {},
        { status: 400, error_code: 'invalid_request', error_stage: 'admit', ...rejected },
      ],
      [
        'small',
        { body: 'x'.repeat(11) },
        { status: 413, error_code: 'payload_too_large', error_stage: 'forward', ...rejected },
      ],
      ['gone', {}, { status: 502, error_code: 'upstream_unavailable', error_stage: 'forward' }],
      [
        'slow',
        {},
        { status: 504, error_code: 'upstream_timeout', error_stage: 'forward', outcome: 'timeout' },
      ],
      [
        'failing',
        {},
        { status: 500, error_code: null, error_stage: null, outcome: 'upstream_error' },
      ],
    ];
    for (const [route, options, expected] of cases) {
      const answer = await gateway.admin.proxy(route, options);
      const [name = ''] = route.split('/');
      expect(await recordOf(answer)).toMatchObject({ route: name, ...expected });
    }
  });

  it('shows that a caller disconnected before its response', async () => {
    await gateway.route({ name: 'left', upstreamPath: '/slow/4000' });
    await gateway.settled();
    const left = new AbortController();
    const { length } = gateway.upstream.seen;
    const pending = fetch(`${gateway.admin.baseUrl}/v1/proxy/left`, {
      headers: { authorization: `Bearer ${gateway.admin.token}` },
      signal: left.signal,
    });
    await eventually(() => expect(gateway.upstream.seen.length).toBeGreaterThan(length));
    left.abort();
    await expect(pending).rejects.toThrow(/abort/);
    await eventually(async () => {
      const { data } = (await reader.get('/v1/requests?route=left')).page();
      expect(data).toMatchObject([{ outcome: 'client_aborted', status: null }]);
    });
  });

  it('contains no header value, body, query value or secret', async () => {
    const marker = 'marker-7f3a';
    const { token } = await gateway.tokenClient();
    await gateway.settled();
    const answer = await gateway.admin.proxy(`orders/items?q=${marker}`, {
      token,
      body: { note: marker },
      headers: { cookie: marker, 'x-custom': marker, 'idempotency-key': marker, referer: marker },
    });
    expect(answer.body).toContain(marker);
    const found = await reader.get(`/v1/requests/${idOf(answer)}`);
    expect(found.resource().id).toBe(idOf(answer));
    expect(found.body).not.toContain(marker);
    expect(found.body).not.toContain(token);
  });
});
