import { describe, expect, it, jest } from '@jest/globals';
import { Http1Exchange } from '@gateway/http/http1/server/exchange';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall, rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const controlPlane = opened(
    await startUpstream((seen, response) => {
      response.writeHead(seen.method === 'POST' ? 201 : 200, {
        'x-request-id': 'req_control',
        'x-ratelimit-remaining': '5999',
        etag: '"3"',
        'x-gateway-latency': '4',
        location: '/v1/services/svc_1',
      });
      response.end(`control ${seen.body}`);
    }),
  );
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url] },
      { environment: { CONTROL_PLANE_URL: controlPlane.url, ...environment } },
    ),
  );
  return { gateway, controlPlane, upstream };
}

describe('the pass-through to the control plane', () => {
  it.each([
    '/v1/services',
    '/v1/services?limit=5&cursor=%2F',
    '/v1/requests/req_1',
    '/v1/unknown',
    '/v1/proxyx',
    '/console',
    '/docs',
    '/docs/guide/use/quick-start',
    '/console/',
    '/console/app.js?v=1',
  ])('forwards %s unchanged', async (target) => {
    const { gateway, controlPlane, upstream } = await setUp();
    const response = await fetch(gateway.url + target, {
      headers: { authorization: 'Bearer gwt_admin', 'if-match': '"2"' },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('control ');
    expect(controlPlane.seen).toMatchObject([{ method: 'GET', url: target }]);
    expect(controlPlane.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer gwt_admin',
      'if-match': '"2"',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      host: new URL(controlPlane.url).host,
    });
    expect(upstream.seen).toHaveLength(0);
    expect(gateway.records).toHaveLength(0);
  });

  it.each([
    [400, 'Authorization twice', ['Host: a', 'Authorization: Bearer a', 'Authorization: Bearer b']],
    [400, 'two hosts', ['Host: a', 'Host: b']],
    [400, 'no host', []],
    [501, 'another coding than chunked', ['Host: a', 'Transfer-Encoding: gzip, chunked']],
  ])(
    'refuses with %i, as the control plane could interpret it differently: %s',
    async (status, _case, lines) => {
      const { gateway, controlPlane } = await setUp();
      const body = lines.some((line) => line.startsWith('Transfer')) ? '0\r\n\r\n' : '';
      const answer = await rawCall(gateway.port, { target: '/v1/services', lines, body });
      expect(answer.status).toBe(status);
      expect(controlPlane.seen).toHaveLength(0);
    },
  );

  it('answers OPTIONS * itself, with its methods', async () => {
    const { gateway, controlPlane } = await setUp();
    const answer = await rawCall(gateway.port, { method: 'OPTIONS', target: '*' });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    expectGatewayHeaders(answer.headers);
    expect(answer.headers.has('x-gateway-error')).toBe(false);
    expect(controlPlane.seen).toHaveLength(0);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('ignores an upgrade request', async () => {
    const { gateway } = await setUp();
    const lines = ['Host: a', 'Connection: Upgrade', 'Upgrade: websocket'];
    const answer = await rawCall(gateway.port, { target: '/v1/services', lines });
    expect(answer.status).toBe(200);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('forwards %s with its body', async (method) => {
    const { gateway, controlPlane } = await setUp();
    for (const body of ['{"name": "a"}', 'x'.repeat(300_000)]) {
      const response = await fetch(`${gateway.url}/v1/services`, { method, body });
      expect(await response.text()).toBe(`control ${body}`);
    }
    expect(controlPlane.seen.map((seen) => seen.method)).toEqual([method, method]);
  });

  it('returns the response of the control plane unchanged, including its gateway headers', async () => {
    const { gateway } = await setUp();
    const response = await fetch(`${gateway.url}/v1/services`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(201);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': 'req_control',
      'x-ratelimit-remaining': '5999',
      etag: '"3"',
      'x-gateway-latency': '4',
      location: '/v1/services/svc_1',
    });
    expect(response.headers.has('x-gateway-error')).toBe(false);
  });

  it('sends the caller’s address to the control plane and ignores a forged one', async () => {
    const { gateway, controlPlane } = await setUp();
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    await fetch(`${gateway.url}/v1/services`, { headers });
    expect(controlPlane.seen[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
    const trusting = await setUp({ TRUSTED_PROXIES: '127.0.0.1' });
    await fetch(`${trusting.gateway.url}/v1/services`, { headers });
    expect(trusting.controlPlane.seen[0]?.headers['x-forwarded-for']).toBe(
      '203.0.113.9, 127.0.0.1',
    );
  });

  it.each(['/', '/healthz', '/metrics', '/v2/services', '/consoles', '/docsets', '/v1'])(
    'answers 404 to %s',
    async (target) => {
      const { gateway, controlPlane } = await setUp();
      await expectRefusal(await rawCall(gateway.port, { target }), 404, 'not_found');
      expect(controlPlane.seen).toHaveLength(0);
    },
  );

  it.each([
    ['GET', 'text/html,application/xhtml+xml,*/*;q=0.8', 200],
    ['GET', '*/*', 404],
    ['GET', 'application/json, text/html;q=0.5', 404],
    ['POST', 'text/html', 404],
  ])('answers %s / of a caller that accepts %s with %d', async (method, accept, status) => {
    const { gateway, controlPlane } = await setUp();
    const response = await fetch(`${gateway.url}/`, { method, headers: { accept } });
    expect(response.status).toBe(status);
    expect(controlPlane.seen).toHaveLength(status === 200 ? 1 : 0);
  });

  it.each(['127.0.0.1', 'localhost', 'control-plane.internal'])(
    'reaches a control plane at %s whatever UPSTREAM_DENY_CIDRS contains',
    async (host) => {
      const controlPlane = opened(await startUpstream());
      const url = `http://${host}:${controlPlane.port}`;
      const gateway = opened(
        await startTestDataPath(
          { upstreams: [url] },
          {
            environment: { CONTROL_PLANE_URL: url },
            denyCidrs: ['127.0.0.0/8', '::1/128'],
            resolve: (_name, _options, callback) => {
              callback(null, [{ address: '127.0.0.1', family: 4 }]);
            },
          },
        ),
      );
      expect((await fetch(`${gateway.url}/v1/services`)).status).toBe(200);
      expect(controlPlane.seen).toHaveLength(1);
      expect((await gateway.call('test')).status).toBe(502);
      expect(controlPlane.seen).toHaveLength(1);
    },
  );

  it('answers 404 if there is no control plane', async () => {
    const { gateway } = await setUp({ CONTROL_PLANE_URL: '' });
    await expectRefusal(await fetch(`${gateway.url}/v1/services`), 404, 'not_found');
    await expectRefusal(await fetch(`${gateway.url}/console`), 404, 'not_found');
  });

  it('answers 502 if the control plane is down, while the data path works', async () => {
    const { gateway } = await setUp({
      CONTROL_PLANE_URL: `http://127.0.0.1:${await closedPort()}`,
    });
    for (const init of [{}, { method: 'POST', body: 'x'.repeat(300_000) }]) {
      const response = await fetch(`${gateway.url}/v1/services`, init);
      await expectRefusal(response, 502, 'upstream_unavailable');
    }
    expect((await gateway.call('test')).status).toBe(200);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('cancels the request to the control plane when the caller leaves', async () => {
    let closed = 0;
    let arrivals = 0;
    const silent = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => (arrivals += 1));
        socket.once('close', () => (closed += 1));
      }),
    );
    const { gateway } = await setUp({ CONTROL_PLANE_URL: silent.url });
    const connection = opened(await rawConnection(gateway.port));
    connection.send(requestText({ target: '/v1/services' }));
    await eventually(() => expect(arrivals).toBe(1));
    connection.destroy();
    await eventually(() => expect(closed).toBe(1));
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
  });
});

it('closes the connection to the control plane if its response cannot be passed on', async () => {
  let closed = false;
  const controlPlane = opened(
    await startRawUpstream((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello'));
      socket.once('close', () => (closed = true));
    }),
  );
  const { gateway } = await setUp({ CONTROL_PLANE_URL: controlPlane.url });
  jest.spyOn(Http1Exchange.prototype, 'respond').mockImplementationOnce(() => {
    throw new Error('a bug');
  });
  const response = await fetch(`${gateway.url}/v1/services`);
  jest.restoreAllMocks();
  expect(response.status).toBe(500);
  await eventually(() => expect(closed).toBe(true));
});
