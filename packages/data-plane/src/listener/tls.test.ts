import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { WebSocket, WebSocketServer } from 'ws';
import { http2Answer, http2Call } from '../../test/http2-call.ts';
import { frame, FRAME, FrameClient } from '@gateway/http/test/http2-frames';
import { startSecureDataPath, type SecureDataPath } from '../../test/secure-data-path.ts';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

let upstream: TestUpstream;
let gateway: SecureDataPath;
let release: () => void;

beforeEach(async () => {
  const released = new Promise<void>((resolve) => (release = resolve));
  upstream = await startUpstream((seen, response) => {
    if (seen.url !== '/slow') response.end('ok');
    else void released.then(() => response.end('slow'));
  });
  gateway = await startGateway({ HEADERS_TIMEOUT_MS: '500' });
});

function startGateway(environment: Readonly<Record<string, string>> = {}) {
  return startSecureDataPath(
    { upstreams: [upstream.url] },
    { environment: { KEEP_ALIVE_TIMEOUT_MS: '400', DRAIN_GRACE_MS: '200', ...environment } },
  );
}

afterEach(async () => {
  release();
  await gateway.stop();
  await upstream.close();
});

async function shake(options: {
  ALPNProtocols?: string[];
  servername?: string;
  maxVersion?: 'TLSv1.1';
}) {
  const ca = gateway.authority.certPem;
  const socket = connect({
    port: gateway.port,
    host: '127.0.0.1',
    ca,
    ...options,
    ...(options.maxVersion === undefined ? {} : { minVersion: 'TLSv1' as const }),
  });
  await once(socket, 'secureConnect');
  const { alpnProtocol } = socket;
  const names = socket.getPeerCertificate().subjectaltname;
  socket.destroy();
  return { alpnProtocol, names };
}

async function http1(agent: Agent): Promise<{ body: string; port: number | undefined }> {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const options = { host: '127.0.0.1', port: gateway.port, path: '/v1/proxy/test', agent, headers };
  const [response] = (await once(request(options).end(), 'response')) as [IncomingMessage];
  const port = response.socket.localPort;
  return { body: await text(response), port };
}

const bearer = () => ({ authorization: `Bearer ${gateway.token}` });

describe('the port with TLS', () => {
  it('uses the protocol that ALPN selects, HTTP/1.1 without ALPN, and refuses others', async () => {
    expect((await shake({ ALPNProtocols: ['h2', 'http/1.1'] })).alpnProtocol).toBe('h2');
    expect((await shake({ ALPNProtocols: ['http/1.1'] })).alpnProtocol).toBe('http/1.1');
    expect((await shake({})).alpnProtocol).toBe(false);
    await expect(shake({ ALPNProtocols: ['spdy/3'] })).rejects.toThrow();
    await expect(shake({ maxVersion: 'TLSv1.1' })).rejects.toThrow();
    const agent = new Agent({ ca: gateway.authority.certPem });
    expect((await http1(agent)).body).toBe('ok');
    expect(upstream.seen[0]?.headers['x-forwarded-proto']).toBe('https');
  });

  it('uses a new certificate for new connections while existing ones continue', async () => {
    const kept = new Agent({ ca: gateway.authority.certPem, keepAlive: true, maxSockets: 1 });
    const session = gateway.connectHttp2();
    const before = await http1(kept);
    const path = { ':path': '/v1/proxy/test/slow', ...bearer() };
    const underWay = http2Call(session, path);
    await eventually(() => expect(upstream.seen.length).toBe(2));

    await gateway.replaceCertificate(['127.0.0.1', 'new.test']);
    release();
    expect((await underWay).body).toBe('slow');
    expect((await http2Call(session, bearer())).body).toBe('ok');
    expect((await http1(kept)).port).toBe(before.port);
    expect((await shake({})).names).toContain('new.test');
    session.destroy();
    kept.destroy();
  });

  it('ends a connection with a closure alert after its last response', async () => {
    const wire = connectTcp(gateway.port, '127.0.0.1');
    const received: Buffer[] = [];
    const tap = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => void wire.write(bytes, done),
    });
    wire.on('data', (bytes: Buffer) => {
      received.push(bytes);
      tap.push(bytes);
    });
    const ca = gateway.authority.certPem;
    const socket = connect({ socket: tap, host: '127.0.0.1', ca, maxVersion: 'TLSv1.2' });
    socket.write('GET / HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
    // A record begins with its type and, in the fourth byte, its length (RFC 5246 section 6.2.1).
    const bytes = Buffer.concat(received);
    const types: (number | undefined)[] = [];
    for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) types.push(bytes[at]);
    expect(types.at(-1)).toBe(21);
  });

  it('counts a connection above a limit once, as refused and not as a failure of TLS', async () => {
    const limits = { MAX_CONNECTIONS_PER_ADDRESS: '1' };
    const other = await startSecureDataPath({ upstreams: [upstream.url] }, { environment: limits });
    const first = connectTcp(other.port, '127.0.0.1');
    try {
      await once(first, 'connect');
      const refused = connectTcp(other.port, '127.0.0.1').resume();
      refused.on('error', () => undefined);
      await once(refused, 'close');
      const metrics = await other.registry.metrics();
      expect(metrics).toMatch(
        /gateway_connections_unanswered_total\{reason="too_many_of_address"\} 1\n/,
      );
      expect(metrics).toMatch(/gateway_connections_unanswered_total\{reason="tls_failed"\} 0\n/);
    } finally {
      first.destroy();
      await other.stop();
    }
  });

  it('carries WebSocket over HTTP/1.1', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on(
      'connection',
      (socket) =>
        void socket.on('message', (data) => {
          socket.send(data);
        }),
    );
    const { port } = server.address() as { port: number };
    const other = await startSecureDataPath({ upstreams: [`http://127.0.0.1:${port}`] });
    const url = `${other.url.replace('https', 'wss')}/v1/proxy/test`;
    const headers = { authorization: `Bearer ${other.token}` };
    const client = new WebSocket(url, { ca: other.authority.certPem, headers });
    await once(client, 'open');
    client.send('echo');
    const [data] = (await once(client, 'message')) as [Buffer];
    expect(data.toString()).toBe('echo');
    client.close();
    await once(client, 'close');
    server.close();
    await other.stop();
  });

  it('closes connections without TLS and those with an unfinished handshake', async () => {
    const plain = connectTcp(gateway.port, '127.0.0.1');
    plain.on('error', () => undefined).resume();
    plain.write('GET /v1/proxy/test HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(plain, 'close');
    const silent = connectTcp(gateway.port, '127.0.0.1');
    silent.on('error', () => undefined).resume();
    await once(silent, 'close');
    await eventually(async () => {
      const metrics = await gateway.registry.metrics();
      expect(metrics).toContain('gateway_connections_unanswered_total{reason="tls_failed"} 1');
      expect(metrics).toContain('gateway_connections_unanswered_total{reason="idle_timeout"} 1');
    });
    expect(upstream.seen).toEqual([]);
  });
});

describe('an HTTP/2 connection', () => {
  it('is closed with GOAWAY when idle and never within a request', async () => {
    // A slow client must not be late with its settings before it is idle.
    await gateway.stop();
    gateway = await startGateway();
    const session = gateway.connectHttp2();
    const slow = http2Call(session, { ':path': '/v1/proxy/test/slow', ...bearer() });
    const resting = await FrameClient.openTls(gateway.port, gateway.authority.certPem);
    const goAway = await resting.frame(FRAME.goAway);
    expect(goAway.payload.readUInt32BE(4)).toBe(0);
    await eventually(() => expect(resting.isClosed).toBe(true));
    release();
    expect((await slow).body).toBe('slow');
    await once(session, 'close');
  });

  it('is destroyed if it stays idle and its caller does not close it, with or without pings', async () => {
    const resting = await FrameClient.openTls(gateway.port, gateway.authority.certPem);
    resting.socket.allowHalfOpen = true;
    const ping = setInterval(() => resting.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8))), 50);
    await eventually(() => expect(resting.isClosed).toBe(true));
    clearInterval(ping);
  });

  it('drains: finishes requests in flight and still answers early ones during the stop', async () => {
    const session = gateway.connectHttp2();
    const slow = http2Call(session, { ':path': '/v1/proxy/test/slow', ...bearer() });
    await eventually(() => expect(upstream.seen.length).toBe(1));
    const raced = session.request({ ':path': '/v1/proxy/test', ...bearer() });
    const stopped = gateway.stop();
    expect(await http2Answer(raced)).toMatchObject({ status: 200, body: 'ok' });
    await eventually(() => expect(session.closed).toBe(true));
    release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow', complete: true });
    await stopped;
    const refused: TLSSocket = connect({ port: gateway.port, host: '127.0.0.1' });
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    gateway.stop = () => Promise.resolve();
  });

  it('resets a stream whose caller does not read the response', async () => {
    const large = await startUpstream((_seen, response) => void response.end('x'.repeat(150_000)));
    const other = await startSecureDataPath(
      { upstreams: [large.url] },
      { environment: { BODY_IDLE_TIMEOUT_MS: '300' } },
    );
    const session = other.connectHttp2();
    session.on('error', () => undefined);
    const streams = [1, 2].map(() => {
      const stream = session.request({
        ':path': '/v1/proxy/test',
        authorization: `Bearer ${other.token}`,
      });
      stream.on('error', () => undefined);
      return stream;
    });
    await eventually(() => expect(other.records.length).toBe(2));
    expect(other.records.map(({ outcome }) => outcome)).not.toContain('success');
    expect(await other.inFlight()).toBe(0);
    for (const stream of streams) stream.destroy();
    session.destroy();
    await other.stop();
    await large.close();
  });
});
