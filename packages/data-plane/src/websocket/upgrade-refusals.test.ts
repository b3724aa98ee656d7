import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { countingClock } from '../../test/counting-clock.ts';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, listen, startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const UPGRADE = [
  ...['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
];

async function setUp(
  upstream: string,
  route: Partial<SnapshotRoute> = {},
  { denyCidrs, environment = {} }: Partial<TestDataPathOptions> = {},
) {
  const clock = countingClock();
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream], timeout_ms: 60_000, retry_count: 0, ...route },
      { clock, environment, ...(denyCidrs !== undefined && { denyCidrs }) },
    ),
  );
  /** A caller that never closes its side of the connection. */
  const ask = async (target = '/v1/proxy/test', token: string = gateway.token, method = 'GET') => {
    const connection = opened(await rawConnection(gateway.port, true));
    const lines = token === '' ? UPGRADE : [...UPGRADE, `Authorization: Bearer ${token}`];
    connection.send(requestText({ method, target, lines }));
    return connection;
  };
  const nothingLeft = async () => {
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect(gateway.records).toHaveLength(1);
    // The log writes its lines a little later, with a timer.
    await eventually(() => expect(clock.pending).toBe(0));
  };
  return { gateway, ask, nothingLeft };
}

async function sockets(server: ReturnType<typeof createServer>) {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return { ...opened(await listen(server)), open };
}

describe('a refused WebSocket upgrade', () => {
  it.each([
    ['without a token', '/v1/proxy/test', '', 401, 'authentication_failed'],
    ['with an unknown token', '/v1/proxy/test', 'gwt_x', 401, 'authentication_failed'],
    ['to an unknown route', '/v1/proxy/missing', undefined, 404, 'route_not_found'],
    [
      'with a path that leaves the base',
      '/v1/proxy/test/%2e%2e',
      undefined,
      400,
      'invalid_request',
    ],
  ] as const)(
    'gets an error body and its connection closes, even if the caller keeps its side open: %s',
    async (_case, target, token, status, code) => {
      const upstream = opened(await startUpstream());
      const { gateway, ask, nothingLeft } = await setUp(upstream.url);
      const connection = await ask(target, token);
      const response = await connection.response();
      await expectRefusal(response, status, code);
      expect(response.headers.get('connection')).toBe('close');
      await eventually(() => expect(connection.ended).toBe(true));
      await nothingLeft();
      expect(gateway.records[0]).toMatchObject({ status, outcome: 'rejected', error_code: code });
      expect(upstream.seen).toHaveLength(0);
    },
  );

  it('gets 429 if the quota is used up', async () => {
    const upstream = opened(await startUpstream());
    const rate = {
      limit: 1,
      window_seconds: 86_400,
      per: 'route' as const,
      on_store_unavailable: 'share' as const,
    };
    const { ask, gateway } = await setUp(upstream.url, { rate_limit: rate });
    await gateway.call('test');
    await expectRefusal(await (await ask()).response(), 429, 'rate_limit_exceeded');
  });

  it('gets 502 if the upstream refuses the connection', async () => {
    const { gateway, ask, nothingLeft } = await setUp(`http://127.0.0.1:${await closedPort()}`);
    const connection = await ask();
    await expectRefusal(await connection.response(), 502, 'upstream_unavailable');
    await nothingLeft();
    expect(gateway.records[0]).toMatchObject({
      outcome: 'upstream_unavailable',
      attempts: [{ upstream: 'ups_0', error: 'connect_refused' }],
    });
  });

  it.each([
    ['resets', (socket: Socket) => void socket.resetAndDestroy()],
    ['closes', (socket: Socket) => void socket.end()],
    ['sends garbage', (socket: Socket) => void socket.write('garbage\r\n\r\n')],
  ])('gets 502 if the upstream %s', async (_how, fail) => {
    const upstream = opened(
      await startRawUpstream((socket) => void socket.once('data', () => fail(socket))),
    );
    const { ask, nothingLeft } = await setUp(upstream.url);
    await expectRefusal(await (await ask()).response(), 502, 'upstream_unavailable');
    await nothingLeft();
  });

  it('gets 504 if the upstream never responds', async () => {
    const upstream = await sockets(createServer(() => undefined));
    const { gateway, ask, nothingLeft } = await setUp(upstream.url, { timeout_ms: 400 });
    await expectRefusal(await (await ask()).response(), 504, 'upstream_timeout');
    await nothingLeft();
    expect(gateway.records[0]).toMatchObject({
      outcome: 'timeout',
      attempts: [{ error: 'attempt_timeout' }],
    });
    await eventually(() => expect(upstream.open.size).toBe(0));
  });

  it('gets 502 if the address of the upstream is denied', async () => {
    const upstream = await sockets(createServer(() => undefined));
    for (const url of [upstream.url, upstream.url.replace('127.0.0.1', 'localhost')]) {
      const { ask, gateway } = await setUp(
        url,
        {},
        {
          denyCidrs: ['127.0.0.0/8', '::1/128'],
        },
      );
      await expectRefusal(await (await ask()).response(), 502, 'upstream_unavailable');
      await eventually(() =>
        expect(gateway.records).toMatchObject([{ attempts: [{ error: 'address_refused' }] }]),
      );
    }
  });

  it('gets the response of the upstream, also with a chunked body', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(403, {
        'x-upstream': 'yes',
        'x-request-id': 'theirs',
        'x-gateway-error': 'internal_error',
        'set-cookie': ['a=1', 'b=2'],
      });
      response.write('not ');
      response.end('you');
    });
    const upstream = await sockets(server);
    const { gateway, ask, nothingLeft } = await setUp(upstream.url);
    const connection = await ask();
    const response = await connection.response();
    expect(response).toMatchObject({ status: 403, complete: true });
    expect(await response.text()).toBe('not you');
    expectGatewayHeaders(response.headers);
    expect(response.headers.has('x-gateway-error')).toBe(false);
    expect(response.headers.get('x-upstream')).toBe('yes');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    await nothingLeft();
    expect(gateway.records[0]).toMatchObject({
      status: 403,
      outcome: 'success',
      response_bytes: 7,
    });
    await eventually(() => expect(upstream.open.size).toBe(0));
  });

  it.each([
    ['the upstream', 'Content-Length: 10\r\n\r\nhalf', 'nothing', 'upstream_error', null],
    [
      'the caller',
      `Content-Length: 50000000\r\n\r\n${'x'.repeat(1_000_000)}`,
      'everything',
      'rejected',
      'response_timeout',
    ],
  ])('ends at the idle timeout of bodies if %s stops', async (...row) => {
    const [, answer, sends, outcome, error_code] = row;
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(`HTTP/1.1 403 Forbidden\r\n${answer}`);
          if (sends === 'everything') socket.write(Buffer.alloc(49_000_000));
        });
      }),
    );
    const environment = { BODY_IDLE_TIMEOUT_MS: '150' };
    const { gateway, ask } = await setUp(upstream.url, {}, { environment });
    const connection = await ask();
    if (sends === 'everything') connection.socket.pause();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records[0]).toMatchObject({ status: 403, outcome, error_code });
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
  });

  it('is cancelled at the upstream if the caller leaves before the response', async () => {
    const upstream = await sockets(createServer(() => undefined));
    const { gateway, ask, nothingLeft } = await setUp(upstream.url);
    const connection = await ask();
    await eventually(() => expect(upstream.open.size).toBe(1));
    connection.destroy();
    await eventually(() => expect(upstream.open.size).toBe(0));
    await nothingLeft();
    expect(gateway.records[0]).toMatchObject({ outcome: 'client_aborted', status: null });
  });
});

describe('an invalid upgrade', () => {
  it.each([
    [
      'to HTTP/2',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ],
    ['to an unknown protocol', ['Connection: upgrade', 'Upgrade: foo/2']],
    ['without Connection: upgrade', ['Upgrade: websocket']],
  ])('%s is ignored and the request is served', async (_case, lines) => {
    const upstream = opened(await startUpstream());
    const { gateway } = await setUp(upstream.url);
    const connection = opened(await rawConnection(gateway.port));
    const own = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ lines: [...own, ...lines] }));
    expect((await connection.response()).status).toBe(200);
    expect(upstream.seen[0]?.headers).not.toHaveProperty('upgrade');
    expect(upstream.seen[0]?.headers).not.toHaveProperty('http2-settings');
  });

  it('is ignored with POST (RFC 6455 section 4.1)', async () => {
    const upstream = opened(await startUpstream());
    const { ask, gateway } = await setUp(upstream.url);
    const connection = await ask('/v1/proxy/test', gateway.token, 'POST');
    expect((await connection.response()).status).toBe(200);
    expect(upstream.seen).toMatchObject([{ method: 'POST' }]);
  });
});
