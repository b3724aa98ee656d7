import { once } from 'node:events';
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer as responseHead, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import { frame, settings } from '../../../test/http2-frames.ts';
import type { BodySink, BodySource, End } from '../../exchange.ts';
import { ForwardedFields } from '../../message/message-writer.ts';
import { FLAG, FRAME, SETTING } from '../protocol.ts';
import type { Http2ClientConnection } from './connection.ts';

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** The example of RFC 6455 section 1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const PROOF = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const world = http2ClientEachTest();
let server: Http2Server;
let answer: Answer;
let sessions: ServerHttp2Session[];

async function listen(enableConnectProtocol = true): Promise<void> {
  server = createServer({ settings: { enableConnectProtocol } });
  sessions = [];
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream as ServerHttp2Stream, headers);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

beforeEach(() => listen());
afterEach(() => {
  for (const session of sessions) session.destroy();
  server.close();
});

const open = () => world.open((server.address() as AddressInfo).port);

/** The bytes of a caller, which the test sends. */
class Caller implements BodySource {
  ended: End | undefined = undefined;
  sink: BodySink | undefined = undefined;
  isDiscarded = false;
  isPaused = false;
  resumed = (): void => undefined;

  start(sink: BodySink): void {
    this.sink = sink;
  }
  send(text: string, last = false): void {
    this.sink?.data(text, last);
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
    this.resumed();
  }
  discard(): void {
    this.isDiscarded = true;
  }
}

function upgrade(connection: Http2ClientConnection, fields: readonly string[] = []) {
  const request = { upgrade: 'websocket', fields: ['Sec-WebSocket-Key', KEY, ...fields] };
  return world.send(connection, { path: '/chat?a=b', ...request });
}

/** A tunnel that is open, and the caller whose bytes it sends. */
async function tunnel(connection: Http2ClientConnection) {
  const exchange = upgrade(connection);
  await eventually(() => expect(exchange.response?.status).toBe(101), { intervalMs: 1 });
  const caller = new Caller();
  exchange.stream?.sendBytes(caller);
  return { exchange, caller };
}

describe('a WebSocket handshake over HTTP/2 (RFC 8441)', () => {
  it('is an extended CONNECT, and its response looks as over HTTP/1.1', async () => {
    let seen: IncomingHttpHeaders | undefined;
    answer = (stream, headers) => {
      seen = headers;
      stream.respond({ ':status': 200, 'sec-websocket-protocol': 'chat', 'x-a': 'b' });
    };
    const exchange = world.send(await open(), {
      path: '/chat?a=b',
      upgrade: 'websocket',
      takesTrailers: true,
      passed: [new ForwardedFields(['sec-websocket-key', KEY, 'Connection', 'Upgrade'])],
      fields: ['Upgrade', 'websocket', 'Sec-WebSocket-Version', '13', 'Origin', 'https://a.test'],
    });
    await eventually(() => expect(exchange.response).toBeDefined(), { intervalMs: 1 });
    expect(Object.fromEntries(Object.entries(seen ?? {}))).toEqual({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': 'a.test',
      ':path': '/chat?a=b',
      'sec-websocket-version': '13',
      origin: 'https://a.test',
    });
    const { status, fields = [] } = exchange.response ?? {};
    expect(status).toBe(101);
    expect(fields.join()).toContain('sec-websocket-protocol,chat');
    expect(fields.join()).toContain(`sec-websocket-accept,${PROOF}`);
  });

  it('has only the proof that this end makes', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'sec-websocket-accept': 'another' });
    };
    const { exchange } = await tunnel(await open());
    expect(exchange.response?.fields.join()).not.toContain('another');
  });

  it('that is refused has an ordinary response', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 403, 'x-why': 'closed' });
      stream.end('refused');
    };
    const connection = await open();
    const exchange = upgrade(connection);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.response).toMatchObject({ status: 403 });
    expect(exchange.body.toString()).toBe('refused');
    await eventually(() => expect(connection.carried).toBe(0), { intervalMs: 1 });
  });

  it('to a server that does not offer it is not sent, and the connection stays', async () => {
    server.close();
    await listen(false);
    answer = (stream) => {
      stream.respond({ ':status': 204 }, { endStream: true });
    };
    const connection = await open();
    const early = upgrade(connection);
    expect(await early.ended()).toEqual(['connect_not_offered', false]);
    expect(upgrade(connection).end).toEqual(['connect_not_offered', false]);
    expect(await world.send(connection).ended()).toBe('complete');
    expect(connection.carried).toBe(0);
  });

  it('waits for the settings of the server, which other requests do not', async () => {
    const { connection, peer } = await world.connectSilently();
    const waiting = upgrade(connection);
    const cancelled = upgrade(connection);
    world.send(connection, { path: '/plain' });
    expect(peer.fields(await peer.frame(FRAME.headers, 1))).toMatchObject({ ':path': '/plain' });
    cancelled.stream?.cancel();
    peer.send(settings([SETTING.enableConnectProtocol, 1]), frame(FRAME.settings, FLAG.ack, 0));
    expect(peer.fields(await peer.frame(FRAME.headers, 3))).toMatchObject({
      ':method': 'CONNECT',
    });
    expect(connection.carried).toBe(2);
    peer.send(responseHead(3));
    await eventually(() => expect(waiting.response?.status).toBe(101), { intervalMs: 1 });
    expect(cancelled.calls).toEqual([]);
  });

  it('was not sent if the connection breaks before the settings', async () => {
    const { connection, peer } = await world.connectSilently();
    const exchange = upgrade(connection);
    peer.socket.destroy();
    expect(await exchange.ended()).toEqual(['reset', false]);
  });
});
