import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { WebSocket, WebSocketServer } from 'ws';
import { http2Answer, http2Call } from '../../test/http2-call.ts';
import { startGatewayTo, startSocketsUpstream } from '../../test/http2-sockets.ts';
import type { Http2UpstreamOptions } from '../../test/http2-upstream.ts';
import type { SecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const OVER_HTTP2 = { protocol: 'http2', websocket_protocol: 'http2' } as const;

async function setUp(options: Http2UpstreamOptions = {}, environment = {}) {
  const upstream = opened(await startSocketsUpstream(options));
  const gateway = opened(await startGatewayTo(upstream.url, OVER_HTTP2, environment));
  return { upstream, gateway };
}

/** A caller over HTTP/1.1. It checks the proof of its key. */
function dial(gateway: SecureDataPath): WebSocket {
  const url = `${gateway.url.replace('http', 'ws')}/v1/proxy/test/chat?a=1`;
  const headers = { authorization: `Bearer ${gateway.token}`, 'x-custom': 'kept' };
  const socket = new WebSocket(url, ['chat'], { headers, ca: gateway.authority.certPem });
  socket.on('error', () => undefined);
  opened({ close: () => socket.terminate() });
  return socket;
}

async function open(gateway: SecureDataPath): Promise<WebSocket> {
  const socket = dial(gateway);
  await once(socket, 'open');
  return socket;
}

async function echo(socket: WebSocket, data: string | Buffer): Promise<string> {
  const message = once(socket, 'message') as Promise<[Buffer]>;
  socket.send(data);
  return (await message)[0].toString('latin1');
}

/** The response to a handshake that does not succeed. */
async function refusalOf(socket: WebSocket): Promise<IncomingMessage> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  return response;
}

async function connectTo(gateway: SecureDataPath): Promise<ClientHttp2Session> {
  const session = gateway.connectHttp2();
  session.on('error', () => undefined);
  opened({
    destroy: () => {
      session.destroy();
    },
  });
  if (session.remoteSettings.enableConnectProtocol !== true) await once(session, 'remoteSettings');
  return session;
}

/** A caller over HTTP/2. */
function connectStream(gateway: SecureDataPath, session: ClientHttp2Session) {
  const fields = {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':path': '/v1/proxy/test/chat',
    authorization: `Bearer ${gateway.token}`,
    'sec-websocket-version': '13',
  };
  const stream = session.request(fields, { endStream: false });
  stream.on('error', () => undefined);
  return stream;
}

const isSettled = (gateway: SecureDataPath) =>
  eventually(async () => expect(await gateway.inFlight()).toBe(0));

describe('a WebSocket to an upstream over HTTP/2 (RFC 8441)', () => {
  it('carries the messages of a caller over HTTP/1.1, small and large, and has one record', async () => {
    const { upstream, gateway } = await setUp();
    const socket = dial(gateway);
    const isOpen = once(socket, 'open');
    const [answer] = (await once(socket, 'upgrade')) as [IncomingMessage];
    await isOpen;
    expect(answer.headers).toMatchObject({
      'sec-websocket-protocol': 'chat',
      'x-upstream': 'yes',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    const { headers } = upstream.arrived[0] ?? {};
    expect(headers).toMatchObject({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/chat?a=1',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat',
      'x-custom': 'kept',
    });
    expect(headers).not.toHaveProperty('sec-websocket-key');
    expect(headers).not.toHaveProperty('content-length');
    expect(JSON.stringify(headers)).not.toContain(gateway.token);
    expect(await echo(socket, 'hello')).toBe('hello');
    const large = Buffer.alloc(1_000_000, 7);
    expect(await echo(socket, large)).toBe(large.toString('latin1'));
    socket.close(1000);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1000);
    const record = await gateway.recordOf(String(answer.headers['x-request-id']));
    expect(record).toMatchObject({
      method: 'GET',
      status: 101,
      outcome: 'success',
      attempts: [{ status: 101 }],
    });
    await isSettled(gateway);
  });

  it('carries the bytes of a caller over HTTP/2', async () => {
    const { gateway } = await setUp();
    const stream = connectStream(gateway, await connectTo(gateway));
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(head).toMatchObject({ ':status': 200, 'x-upstream': 'yes' });
    expect(head).not.toHaveProperty('sec-websocket-accept');
    let received = '';
    stream.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
    // A masked text frame (RFC 6455 section 5.2), with a mask of zeros, and its echo.
    stream.write(Buffer.from('\x81\x85\0\0\0\0hello', 'latin1'));
    await eventually(() => expect(received).toBe('\x81\x05hello'));
    stream.write(Buffer.from('\x88\x82\0\0\0\0\x03\xe8', 'latin1'));
    await eventually(() => expect(received.endsWith('\x88\x02\x03\xe8')).toBe(true));
    stream.end();
    if (!stream.closed) await once(stream, 'close');
    await eventually(() => expect(gateway.records).toMatchObject([{ status: 101 }]));
    await isSettled(gateway);
  });

  it('shares connections with others and with requests', async () => {
    const { upstream, gateway } = await setUp();
    const sockets = await Promise.all(Array.from({ length: 30 }, () => open(gateway)));
    const session = await connectTo(gateway);
    const fields = { authorization: `Bearer ${gateway.token}` };
    const calls = Array.from({ length: 30 }, () => http2Call(session, fields));
    const echoes = sockets.map((socket, index) => echo(socket, `message ${index}`));
    for (const { status, body } of await Promise.all(calls)) {
      expect([status, body]).toEqual([200, 'ok']);
    }
    expect(await Promise.all(echoes)).toEqual(sockets.map((_socket, index) => `message ${index}`));
    expect(upstream.connections).toBe(1);
    await eventually(async () => expect(await gateway.inFlight()).toBe(30));
    sockets.forEach((socket, index) => {
      if (index % 2 === 0) socket.close();
      else socket.terminate();
    });
    await isSettled(gateway);
    await eventually(() =>
      expect(upstream.arrived.every(({ stream }) => stream.closed)).toBe(true),
    );
    expect(upstream.sessions.size).toBe(1);
  });

  it('counts among the streams of its connection while it is open', async () => {
    const { upstream, gateway } = await setUp({ streams: 2 });
    await open(gateway);
    const second = await open(gateway);
    expect(upstream.connections).toBe(1);
    await open(gateway);
    expect(upstream.connections).toBe(2);
    second.close();
    await once(second, 'close');
    await eventually(() => expect(upstream.arrived[1]?.stream.closed).toBe(true));
    await open(gateway);
    expect(upstream.arrived.map(({ connection }) => connection)).toEqual([1, 1, 2, 1]);
  });

  it('ends at the upstream when the caller dies', async () => {
    const { upstream, gateway } = await setUp();
    const socket = await open(gateway);
    socket.terminate();
    await eventually(() => expect(upstream.arrived[0]?.stream.closed).toBe(true));
    await isSettled(gateway);
  });

  it('that its caller resets does not blame the upstream', async () => {
    const { upstream, gateway } = await setUp();
    const session = await connectTo(gateway);
    const stream = connectStream(gateway, session);
    await once(stream.resume(), 'response');
    session.destroy();
    await eventually(() =>
      expect(gateway.records).toMatchObject([{ status: 101, outcome: 'success' }]),
    );
    await eventually(() => expect(upstream.arrived[0]?.stream.closed).toBe(true));
  });

  it('ends at the caller when the upstream ends it without a word', async () => {
    const { upstream, gateway } = await setUp();
    const socket = await open(gateway);
    const closed = once(socket, 'close');
    upstream.arrived[0]?.stream.end();
    expect((await closed)[0]).toBe(1006);
    await eventually(() => expect(upstream.arrived[0]?.stream.closed).toBe(true));
    await eventually(() => expect(gateway.records).toMatchObject([{ outcome: 'success' }]));
    await isSettled(gateway);
  });

  it('ends at a caller over HTTP/2 too, and leaves no stream at the upstream', async () => {
    const { upstream, gateway } = await setUp();
    const stream = connectStream(gateway, await connectTo(gateway));
    await once(stream.resume(), 'response');
    upstream.arrived[0]?.stream.end();
    if (!stream.closed) await once(stream, 'close');
    await eventually(() => expect(upstream.arrived[0]?.stream.closed).toBe(true));
    await isSettled(gateway);
  });

  it('ends at the caller when the upstream resets it, and others continue', async () => {
    const { upstream, gateway } = await setUp();
    const socket = await open(gateway);
    const other = await open(gateway);
    const closed = once(socket, 'close');
    upstream.arrived[0]?.stream.destroy(new Error('broken'));
    expect((await closed)[0]).toBe(1006);
    await eventually(() =>
      expect(gateway.records).toMatchObject([{ status: 101, outcome: 'upstream_error' }]),
    );
    expect(await echo(other, 'still here')).toBe('still here');
    expect(await gateway.inFlight()).toBe(1);
  });

  it('ends if no bytes are transferred for the idle timeout, and its connection stays', async () => {
    const { upstream, gateway } = await setUp({}, { WEBSOCKET_IDLE_TIMEOUT_MS: '1000' });
    const socket = await open(gateway);
    expect(await echo(socket, '.')).toBe('.');
    await once(socket, 'close');
    await eventually(() => expect(upstream.arrived[0]?.stream.closed).toBe(true));
    await isSettled(gateway);
    await open(gateway);
    expect(upstream.connections).toBe(1);
  });

  it('is closed at the end of a drain', async () => {
    const { upstream, gateway } = await setUp({}, { DRAIN_TIMEOUT_MS: '200' });
    const socket = await open(gateway);
    const closed = once(socket, 'close');
    await gateway.stop();
    await closed;
    expect(gateway.records).toMatchObject([{ status: 101, outcome: 'success' }]);
    await eventually(() => expect(upstream.sessions.size).toBe(0));
  });
});

describe('a WebSocket that is not opened over HTTP/2', () => {
  it('because the upstream refuses it has the response of the upstream', async () => {
    const { gateway } = await setUp({
      answer: ({ stream }) => {
        stream.respond({ ':status': 403, 'x-why': 'closed' });
        stream.end('refused');
      },
    });
    const refusal = await refusalOf(dial(gateway));
    expect(refusal).toMatchObject({ statusCode: 403, headers: { 'x-why': 'closed' } });
    const answer = await http2Answer(connectStream(gateway, await connectTo(gateway)));
    expect(answer).toMatchObject({ status: 403, body: 'refused' });
    await isSettled(gateway);
  });

  it('because the upstream does not offer it is refused, and other requests are served', async () => {
    const { upstream, gateway } = await setUp({ enableConnectProtocol: false });
    const refusal = await refusalOf(dial(gateway));
    expect(refusal.statusCode).toBe(502);
    expect(refusal.headers['x-gateway-error']).toBe('upstream_unavailable');
    const { attempts } = await gateway.recordOf(String(refusal.headers['x-request-id']));
    expect(attempts[0]).toMatchObject({ error: 'connect_not_offered' });
    const session = await connectTo(gateway);
    const other = await http2Call(session, { authorization: `Bearer ${gateway.token}` });
    expect(other.status).toBe(200);
    expect(upstream.arrived).toHaveLength(1);
  });

  it('because its service does not say so fails with the field to change if the upstream speaks HTTP/2 only', async () => {
    const upstream = opened(await startSocketsUpstream({}));
    const gateway = opened(await startGatewayTo(upstream.url, { protocol: 'http2' }));
    const refusal = await refusalOf(dial(gateway));
    expect(refusal.statusCode).toBe(502);
    const { attempts } = await gateway.recordOf(String(refusal.headers['x-request-id']));
    expect(attempts[0]).toMatchObject({ error: 'speaks_http2' });
    expect(upstream.arrived).toEqual([]);
  });

  it('because its service does not say so has an HTTP/1.1 connection, whatever protocol says', async () => {
    const server = createServer();
    const upstream = opened(await listen(server));
    const sockets = opened(new WebSocketServer({ server, handleProtocols: () => 'chat' }));
    const connected = once(sockets, 'connection') as Promise<[WebSocket, IncomingMessage]>;
    const gateway = opened(await startGatewayTo(upstream.url, { protocol: 'http2' }));
    await open(gateway);
    const [, request] = await connected;
    expect(request).toMatchObject({ method: 'GET', httpVersion: '1.1' });
  });
});
