import { once } from 'node:events';
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { BodySink, BodySource, End } from '../src/exchange.ts';
import type { Http2ClientConnection } from '../src/http2/client/connection.ts';
import { http2ClientEachTest } from './http2-client-world.ts';

/** The example of RFC 6455 section 1.3. */
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** What a server does with a stream. */
export type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** The bytes of a caller, which the test sends. */
export class Caller implements BodySource {
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

/** A client of WebSockets over HTTP/2 in each test, and node:http2 as its server. */
export function tunnelEachTest(answer: Answer) {
  const world = http2ClientEachTest();
  const tunnels = {
    world,
    /** How the server answers; at first as given. */
    answer,
    sessions: [] as ServerHttp2Session[],
    listen,
    open: () => world.open(port),
    upgrade,
    tunnel,
  };
  let server: Http2Server | undefined;
  let port = 0;

  /** Puts another server in the place of the one before. */
  async function listen(enableConnectProtocol = true): Promise<void> {
    close();
    server = createServer({ settings: { enableConnectProtocol } });
    tunnels.sessions = [];
    server.on('session', (session) => void tunnels.sessions.push(session));
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      tunnels.answer(stream as ServerHttp2Stream, headers);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }

  function close(): void {
    for (const session of tunnels.sessions) session.destroy();
    server?.close();
  }

  function upgrade(connection: Http2ClientConnection) {
    const fields = ['Sec-WebSocket-Key', KEY];
    return world.send(connection, { path: '/chat?a=b', upgrade: 'websocket', fields });
  }

  /** A tunnel that is open, and the caller whose bytes it sends. */
  async function tunnel(connection: Http2ClientConnection) {
    const exchange = upgrade(connection);
    await eventually(() => expect(exchange.response?.status).toBe(101), { intervalMs: 1 });
    const caller = new Caller();
    exchange.stream?.sendBytes(caller);
    return { exchange, caller };
  }

  beforeEach(async () => {
    tunnels.answer = answer;
    await listen();
  });
  afterEach(close);
  return tunnels;
}
