import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { listen, startRawUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
/** The fields of a 101 response: `Connection` lists some, and some are for the gateway or for a body. */
const HANDSHAKE = [
  ...['Set-Cookie: a=1; Path=/', 'Connection: Upgrade, X-Hop', 'Upgrade: websocket', 'X-Hop: 1'],
  ...['Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', 'Set-Cookie: b=2', 'X-Upstream: yes'],
  ...['Keep-Alive: timeout=5', 'X-Gateway-Error: none', 'X-Request-Id: theirs'],
  ...['Content-Length: 5'],
];

/** An upstream that echoes WebSocket messages. */
async function setUp(route: Partial<SnapshotRoute> = {}, environment: Record<string, string> = {}) {
  const server = createServer();
  const upstream = opened(await listen(server));
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'chat' });
  opened(sockets);
  const requests: IncomingMessage[] = [];
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  sockets.on('connection', (socket, request) => {
    requests.push(request);
    socket.on('message', (data, isBinary) => {
      socket.send(data, { binary: isBinary });
    });
    socket.on('error', () => undefined);
  });
  const gateway = opened(
    await startTestDataPath({ upstreams: [`${upstream.url}/base`], ...route }, { environment }),
  );
  return { upstream, gateway, sockets, requests, open };
}

function dial(gateway: TestDataPath, path = 'test', options: WebSocket.ClientOptions = {}) {
  const headers = { authorization: `Bearer ${gateway.token}`, ...options.headers };
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/proxy/${path}`, ['chat'], {
    ...options,
    headers,
  });
  socket.on('error', () => undefined);
  opened({ close: () => socket.terminate() });
  return socket;
}

async function answerOf(socket: WebSocket): Promise<IncomingMessage> {
  const [answer] = (await once(socket, 'upgrade')) as [IncomingMessage];
  return answer;
}

async function echo(socket: WebSocket, data: string | Buffer): Promise<string> {
  const message = once(socket, 'message') as Promise<[Buffer]>;
  socket.send(data);
  return (await message)[0].toString('latin1');
}

describe('WebSocket', () => {
  it('passes messages both ways, text and binary, small and large', async () => {
    const { gateway } = await setUp();
    const socket = dial(gateway);
    await once(socket, 'open');
    expect(await echo(socket, 'hello')).toBe('hello');
    const large = Buffer.alloc(1_000_000, 7);
    expect(await echo(socket, large)).toBe(large.toString('latin1'));
    socket.close(1000);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1000);
  });

  it('goes to the sub-path with its query and without the credential of the caller', async () => {
    const { gateway, requests, upstream } = await setUp();
    const headers = {
      cookie: 'a=1',
      'x-custom': 'kept',
      'x-gateway-environment': 'production',
      'x-forwarded-for': '203.0.113.9',
      origin: 'https://app.test',
      'x-request-id': 'mine',
    };
    const socket = dial(gateway, 'test//rooms/%41?a=1&b=', { headers });
    const answer = await answerOf(socket);
    expect(requests[0]?.url).toBe('/base//rooms/%41?a=1&b=');
    expect(requests[0]?.headers).toMatchObject({
      host: new URL(upstream.url).host,
      cookie: 'a=1',
      'x-custom': 'kept',
      'cdn-loop': 'gateway',
      'x-forwarded-for': '127.0.0.1',
      origin: 'https://app.test',
      'sec-websocket-version': '13',
      'x-request-id': answer.headers['x-request-id'],
    });
    expect(JSON.stringify(requests[0]?.rawHeaders)).not.toContain('gwt_');
    expect(requests[0]?.headers).not.toHaveProperty('x-gateway-environment');
  });

  it('has the headers of the gateway in its response', async () => {
    const { gateway } = await setUp();
    const { statusCode, headers } = await answerOf(dial(gateway));
    expect(statusCode).toBe(101);
    expect(headers).toMatchObject({
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-protocol': 'chat',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-gateway-latency': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining': '999',
      'x-ratelimit-limit': '1000',
    });
    expect(headers).not.toHaveProperty('x-gateway-error');
  });

  it('has the end-to-end fields of the upstream in its response, and no others', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        socket.once('data', () => {
          socket.write(`HTTP/1.1 101 Switching Protocols\r\n${HANDSHAKE.join('\r\n')}\r\n\r\n`);
        });
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...UPGRADE];
    connection.send(requestText({ lines }));
    await eventually(() => expect(connection.receivedText).toContain('\r\n\r\n'));
    const [start, ...fields] = connection.receivedText.trim().split('\r\n');
    expect(start).toBe('HTTP/1.1 101 Switching Protocols');
    expect(fields).toEqual([
      'connection: Upgrade',
      'upgrade: websocket',
      'Set-Cookie: a=1; Path=/',
      'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'Set-Cookie: b=2',
      'X-Upstream: yes',
      'X-Upstream-Request-Id: theirs',
      expect.stringMatching(/^X-Request-Id: req_/),
      expect.stringMatching(/^X-Gateway-Latency: \d+$/),
      expect.stringMatching(/^X-RateLimit-Limit: /),
      expect.stringMatching(/^X-RateLimit-Remaining: /),
      expect.stringMatching(/^X-RateLimit-Reset: /),
    ]);
  });

  it('has one record, written when it has ended', async () => {
    const { gateway } = await setUp();
    const socket = dial(gateway);
    const answer = await answerOf(socket);
    expect(await echo(socket, 'x'.repeat(100))).toHaveLength(100);
    expect(gateway.records).toHaveLength(0);
    expect(await gateway.inFlight()).toBe(1);
    socket.close();
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({
      method: 'GET',
      status: 101,
      outcome: 'success',
      error_code: null,
      retry_count: 0,
      route: 'test',
      attempts: [{ upstream: 'ups_0', status: 101 }],
    });
    expect(record.response_bytes).toBeGreaterThan(100);
    expect(record.timing.gateway_ms + record.timing.upstream_ms).toBeLessThanOrEqual(
      record.timing.total_ms + 0.01,
    );
    expect(gateway.records).toHaveLength(1);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('ends at the upstream when the caller dies', async () => {
    const { gateway, open } = await setUp();
    const socket = dial(gateway);
    await once(socket, 'open');
    socket.terminate();
    await eventually(() => expect(open.size).toBe(0));
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(await gateway.inFlight()).toBe(0);
  });

  it('ends at the caller when the upstream dies', async () => {
    const { gateway, sockets, open } = await setUp();
    const socket = dial(gateway);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    for (const client of sockets.clients) client.terminate();
    const [code] = (await closed) as [number];
    expect(code).toBe(1006);
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(open.size).toBe(0);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('ends when the upstream dies even if the caller does not close, and the last bytes are delivered', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        const head =
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
        socket.once('data', () => socket.end(`${head}Sec-WebSocket-Accept: x\r\n\r\nlast words`));
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port, true));
    const lines = ['Host: gateway.test', 'Connection: Upgrade', 'Upgrade: websocket'];
    lines.push(
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Authorization: Bearer ${gateway.token}`,
    );
    connection.send(requestText({ lines }));
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toContain('Sec-WebSocket-Accept: x');
    expect(connection.receivedText).toMatch(/last words$/);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    expect(gateway.records).toMatchObject([{ status: 101, outcome: 'success' }]);
  });

  it('ends at the caller when the upstream resets, and others continue', async () => {
    const { gateway, open } = await setUp();
    const socket = dial(gateway);
    const other = dial(gateway, 'test/other');
    const answer = await answerOf(socket);
    await once(other, 'open');
    const closed = once(socket, 'close');
    const [first] = open;
    first?.resetAndDestroy();
    const [code] = (await closed) as [number];
    expect(code).toBe(1006);
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({ status: 101, outcome: 'upstream_error' });
    expect(await echo(other, 'still here')).toBe('still here');
    expect(await gateway.inFlight()).toBe(1);
  });

  it('ends if no bytes are transferred for the idle timeout, not before', async () => {
    const { gateway, open } = await setUp({}, { WEBSOCKET_IDLE_TIMEOUT_MS: '1000' });
    const socket = dial(gateway);
    await once(socket, 'open');
    const startedMs = performance.now();
    const closed = once(socket, 'close');
    await eventually(async () => {
      expect(await echo(socket, '.')).toBe('.');
      expect(performance.now() - startedMs).toBeGreaterThan(1500);
    });
    await closed;
    await eventually(() => expect(open.size).toBe(0));
  });

  it('leaves no socket open after many of them', async () => {
    const { gateway, open } = await setUp();
    for (let round = 0; round < 5; round += 1) {
      const sockets = Array.from({ length: 20 }, () => dial(gateway));
      await Promise.all(sockets.map((socket) => once(socket, 'open')));
      sockets.forEach((socket, index) => {
        if (index % 2 === 0) socket.close();
        else socket.terminate();
      });
    }
    await eventually(() => expect(gateway.records.length).toBe(100));
    await eventually(() => expect(open.size).toBe(0));
    expect(await gateway.inFlight()).toBe(0);
  });

  it('is closed at the end of a drain', async () => {
    const { gateway, open } = await setUp({}, { DRAIN_TIMEOUT_MS: '200' });
    const socket = dial(gateway);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await gateway.stop();
    await closed;
    expect(gateway.records).toMatchObject([{ status: 101, outcome: 'success' }]);
    await eventually(() => expect(open.size).toBe(0));
    expect(await gateway.inFlight()).toBe(0);
  });
});
