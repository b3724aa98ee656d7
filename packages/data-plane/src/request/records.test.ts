import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { requestRecordSchema } from '@gateway/shared/records/record';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall, rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp() {
  const upstream = opened(
    await startUpstream((seen, response) => {
      response.statusCode = Number(/status=(\d+)/.exec(seen.url)?.[1] ?? 200);
      response.setHeader('x-answer', 'marker-answer-header');
      if (!seen.url.includes('hang')) response.end('marker-answer-body');
    }),
  );
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url], timeout_ms: 500, retry_count: 1 }),
  );
  return { upstream, gateway };
}

/** Resolves when each record has exactly one line in the log. */
async function logged(gateway: TestDataPath): Promise<void> {
  await eventually(() => {
    const lines = gateway.logLines.filter((line) => line.includes('"body":"request"'));
    expect(lines).toHaveLength(gateway.records.length);
  });
}

describe('the record of a request', () => {
  it('has exactly the documented fields', async () => {
    const { gateway, upstream } = await setUp();
    const response = await gateway.call('test/a/b?query=1', {
      method: 'POST',
      body: 'hello',
      headers: { 'x-request-id': 'caller-1' },
    });
    await response.text();
    const record = await gateway.recordOf(response);
    expect(requestRecordSchema.strict().parse(record)).toEqual(record);
    expect(record).toMatchObject({
      environment: 'production',
      route: 'test',
      service_id: 'svc_test',
      method: 'POST',
      path: '/v1/proxy/test/a/b',
      status: 200,
      outcome: 'success',
      error_code: null,
      upstream: { id: 'ups_0', url: upstream.url, region: null },
      retry_count: 0,
      token_id: 'tok_test',
      client_ip: '127.0.0.1',
      client_request_id: 'caller-1',
      request_bytes: 5,
      response_bytes: 18,
      data_plane: 'test',
      config_version: 1,
      attempts: [{ upstream: 'ups_0', region: null, status: 200 }],
      rate_limit: { limit: 1000, remaining: 999, reset_seconds: expect.any(Number) },
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      header_names: expect.arrayContaining(['host', 'authorization', 'content-length']),
      host: `127.0.0.1:${gateway.port}`,
      request_content_length: 5,
      kind: 'request',
    });
    expect(Math.abs(Date.now() - record.received_at_ms)).toBeLessThan(10_000);
  });

  it.each([
    ['success', 'test', 200],
    ['success', 'test?status=404', 404],
    ['upstream_error', 'test?status=500', 500],
    ['upstream_error', 'test?status=503', 503],
    ['timeout', 'test?hang', 504],
    ['rejected', 'missing', 404],
    ['rejected', 'test/%00', 400],
  ])('has the outcome %s for %s', async (outcome, path, status) => {
    const { gateway } = await setUp();
    const response = await gateway.call(path);
    await response.text();
    expect(await gateway.recordOf(response)).toMatchObject({ outcome, status });
  });

  it('exists for every kind of request, and its times add up', async () => {
    const { gateway } = await setUp();
    const ids: string[] = [];
    const call = async (path: string, init?: RequestInit) => {
      const response = await gateway.call(path, init);
      await response.arrayBuffer();
      ids.push(String(response.headers.get('x-request-id')));
    };
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
      await call('test', { method });
    await call('test', { method: 'POST', body: 'x'.repeat(200_000) });
    for (const path of [
      'test?status=204',
      'test?status=503',
      'test?hang',
      'missing',
      'test/%00',
      '',
    ]) {
      await call(path);
    }
    await call('test', { headers: { authorization: 'none' } });
    for (const request of [{ method: 'TRACE' }, { method: 'CONNECT' }, { lines: [] }]) {
      const response = await rawCall(gateway.port, request, gateway.token);
      ids.push(String(response.headers.get('x-request-id')));
    }
    const leaving = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    leaving.send(requestText({ target: '/v1/proxy/test?hang', lines }));
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    leaving.destroy();

    await eventually(() => expect(gateway.records.length).toBe(ids.length + 1));
    for (const id of ids) expect(gateway.records.filter((one) => one.id === id)).toHaveLength(1);
    for (const { timing, waits, attempts } of gateway.records) {
      const { total_ms, ...states } = timing;
      const us = Object.values(states).map((ms) => Math.round((ms ?? NaN) * 1000));
      expect(us.every((one) => one >= 0)).toBe(true);
      expect(us.reduce((sum, one) => sum + one, 0)).toBe(Math.round(total_ms * 1000));
      const attemptsMs = attempts.reduce((sum, attempt) => sum + attempt.duration_ms, 0);
      const receivingMs = states.receiving_ms ?? 0;
      const waitedMs = states.upstream_ms + receivingMs + (waits?.connection_ms ?? 0);
      expect(attemptsMs).toBeLessThanOrEqual(waitedMs + 0.01);
    }
    expect(await gateway.inFlight()).toBe(0);
  });

  it('separates the wait for the upstream from the time in the gateway', async () => {
    const { gateway } = await setUp();
    const response = await gateway.call('test?hang');
    const { timing } = await gateway.recordOf(response);
    expect(timing.upstream_ms).toBeGreaterThanOrEqual(450);
    expect(timing.gateway_ms).toBeLessThan(300);
    expect(Number(response.headers.get('x-gateway-latency'))).toBe(Math.round(timing.gateway_ms));
  });

  it('counts the time of a streaming body as upstream time', async () => {
    let passedMs = 0;
    let finish: (() => void) | undefined;
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab');
        finish = () => void socket.write('cd');
      }),
    );
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { clock }));
    const response = await gateway.call('test');
    passedMs = 5000;
    finish?.();
    expect(await response.text()).toBe('abcd');
    const { timing } = await gateway.recordOf(response);
    expect(timing.upstream_ms).toBeGreaterThanOrEqual(5000);
    expect(timing.gateway_ms).toBeLessThan(4000);
  });

  it('is limited in size, whatever the caller sends', async () => {
    const { gateway } = await setUp();
    const long = 'a'.repeat(5000);
    const lines = ['Host: gateway.test', `X-Request-Id: ${long}`];
    await rawCall(gateway.port, { target: `/v1/proxy/${long}/${long}`, lines }, gateway.token);
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(JSON.stringify(gateway.records[0]).length).toBeLessThan(3000);
  });
});

describe('everything that is written about a request', () => {
  it('contains no secret, header value, body or query value, in record, log and metrics', async () => {
    const { gateway, upstream } = await setUp();
    const marked = {
      method: 'POST',
      body: 'marker-request-body',
      headers: {
        'x-custom': 'marker-header',
        cookie: 'marker-cookie=1',
        'user-agent': 'marker-agent',
        'idempotency-key': 'marker-key',
        'x-forwarded-for': 'marker-forwarded',
      },
    };
    const query = '?q=marker-query';
    const paths = [
      'test',
      'test?status=500&q=marker-query',
      'missing',
      'test/%00',
      'test?hang&q=marker-query',
    ];
    for (const path of paths) {
      const response = await gateway.call(path.includes('?') ? path : path + query, marked);
      await response.text();
      await gateway.recordOf(response);
    }
    const unknown = { ...marked.headers, authorization: 'Bearer marker-wrong-token' };
    const refused = await gateway.call(`test${query}`, { ...marked, headers: unknown });
    await gateway.recordOf(refused);
    await rawCall(gateway.port, { lines: ['Host: marker-host', 'marker-bad line'] }, gateway.token);
    await upstream.close();
    await gateway.recordOf(await gateway.call(`test${query}`, marked));

    const metrics = await gateway.registry.metrics();
    await logged(gateway);
    const written = [
      ...gateway.logLines,
      ...gateway.records.map((one) => JSON.stringify(one)),
      metrics,
    ];
    for (const text of written) {
      expect(text).not.toContain('marker-');
      expect(text).not.toContain('gwt_');
    }
  });

  it.each([
    ['f058ebd6-02f7', 'f058ebd6-02f7'],
    ['a'.repeat(200), 'a'.repeat(128)],
    ['two words', null],
    ['caf\xe9', null],
    [undefined, null],
  ])('has the request id of the upstream if it is visible ASCII, cut: %s', async (sent, kept) => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        if (sent !== undefined) response.setHeader('x-request-id', sent);
        response.end();
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const response = await gateway.call('test');
    expect(response.headers.get('x-upstream-request-id')).toBe(sent ?? null);
    expect(await gateway.recordOf(response)).toMatchObject({ upstream_request_id: kept });
    expect(gateway.logLines.join('\n')).not.toContain(sent ?? 'f058ebd6');
  });

  it('contains no token from a path or an id, and no unknown environment', async () => {
    const { gateway } = await setUp();
    const { token } = gateway;
    const long = 'a'.repeat(1000);
    const calls = [
      gateway.call(`test/${token}/x`),
      gateway.call(`test/${long}${token}`),
      gateway.call(token),
      gateway.call('test', { headers: { 'x-request-id': `mine ${token}` } }),
      gateway.call('test', { headers: { 'x-gateway-environment': token } }),
      gateway.call('test', { headers: { 'x-gateway-environment': token, authorization: 'none' } }),
    ];
    const records = [];
    for (const response of await Promise.all(calls)) {
      expect(await response.text()).not.toContain(token.slice(0, 20));
      records.push(await gateway.recordOf(response));
    }
    expect(records[0]).toMatchObject({ path: '/v1/proxy/test/[token]/x', status: 200 });
    expect(records[2]).toMatchObject({ route: '[token]', status: 404 });
    expect(records[3]).toMatchObject({ client_request_id: 'mine [token]', status: 200 });
    expect(records[4]).toMatchObject({ environment: null, error_code: 'route_not_found' });
    expect(records[5]).toMatchObject({ environment: null, error_code: 'authentication_failed' });
    await logged(gateway);
    for (const text of [...gateway.logLines, ...records.map((one) => JSON.stringify(one))]) {
      expect(text).not.toContain(token.slice(0, 20));
    }
  });
});
