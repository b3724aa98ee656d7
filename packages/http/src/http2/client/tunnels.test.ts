import { once } from 'node:events';
import {
  constants,
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
import type { BodySink, BodySource, End } from '../../exchange.ts';
import { FLAG, FRAME, SETTING } from '../protocol.ts';
import type { Http2ClientConnection } from './connection.ts';

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** The example of RFC 6455 section 1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

const world = http2ClientEachTest();
let server: Http2Server;
let answer: Answer;
let sessions: ServerHttp2Session[];

async function listen(): Promise<void> {
  server = createServer({ settings: { enableConnectProtocol: true } });
  sessions = [];
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream as ServerHttp2Stream, headers);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

beforeEach(listen);
afterEach(() => {
  for (const session of sessions) session.destroy();
  server.close();
});

const open = () => world.open((server.address() as AddressInfo).port);

const echo: Answer = (stream) => {
  stream.respond({ ':status': 200 });
  stream.pipe(stream);
};

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

const receives = (one: { body: Buffer }, text: string) =>
  eventually(() => expect(one.body.toString()).toBe(text), { intervalMs: 1 });

describe('the tunnel of a WebSocket over HTTP/2', () => {
  beforeEach(() => {
    answer = echo;
  });

  it('carries bytes both ways until both sides have ended', async () => {
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    caller.send('hello');
    await receives(exchange, 'hello');
    caller.send(' again', true);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('hello again');
    await eventually(() => expect(connection.carried).toBe(0), { intervalMs: 1 });
  });

  it('that the server ends first takes bytes of this end until it ends too', async () => {
    let received = '';
    let code: number | undefined;
    answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('bye');
      stream.on('data', (bytes: Buffer) => (received += bytes.toString()));
      stream.on('close', () => (code = stream.rstCode));
    };
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('bye');
    expect(connection.carried).toBe(1);
    caller.send('the rest', true);
    await eventually(() => expect(code).toBe(constants.NGHTTP2_NO_ERROR), { intervalMs: 1 });
    expect(received).toBe('the rest');
    expect(connection.carried).toBe(0);
  });

  it('that opens and ends at once is complete', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 }, { endStream: true });
    };
    const exchange = upgrade(await open());
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.calls.slice(0, 2)).toEqual(['head', 'data, last']);
  });

  it('that this end leaves after the server has ended is closed without an error', async () => {
    let code: number | undefined;
    answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.end();
      stream.on('close', () => (code = stream.rstCode));
    };
    const connection = await open();
    const { exchange, caller } = await tunnel(connection);
    await exchange.ended();
    exchange.stream?.cancel();
    await eventually(() => expect(code).toBe(constants.NGHTTP2_NO_ERROR), { intervalMs: 1 });
    expect(caller.isDiscarded).toBe(true);
    expect(connection.carried).toBe(0);
  });

  it('that the server resets is broken, and the others on its connection are not', async () => {
    const streams: ServerHttp2Stream[] = [];
    answer = (stream, headers) => {
      streams.push(stream);
      echo(stream, headers);
    };
    const connection = await open();
    const broken = await tunnel(connection);
    const other = await tunnel(connection);
    streams[0]?.destroy(new Error('broken'));
    expect(await broken.exchange.ended()).toEqual(['reset', true]);
    expect(broken.caller.isDiscarded).toBe(true);
    const late = new Caller();
    broken.exchange.stream?.sendBytes(late);
    expect(late.isDiscarded).toBe(true);
    other.caller.send('on');
    await receives(other.exchange, 'on');
  });

  it('whose caller breaks off is reset with CANCEL', async () => {
    let code: number | undefined;
    answer = (stream) => {
      stream.respond({ ':status': 200 });
      stream.on('close', () => (code = stream.rstCode));
    };
    const { exchange, caller } = await tunnel(await open());
    caller.sink?.failed('peer_left');
    expect(await exchange.ended()).toEqual(['request_body', true]);
    await eventually(() => expect(code).toBe(constants.NGHTTP2_CANCEL), { intervalMs: 1 });
  });

  it('has no trailers: a second head resets it', async () => {
    const { connection, peer } = await world.connect([SETTING.enableConnectProtocol, 1]);
    const exchange = upgrade(connection);
    await peer.frame(FRAME.headers, 1);
    peer.send(responseHead(1), responseHead(1, FLAG.endHeaders | FLAG.endStream));
    expect(await exchange.ended()).toEqual(['invalid_response', true]);
    expect((await peer.frame(FRAME.rstStream, 1)).payload.readUInt32BE(0)).toBe(
      constants.NGHTTP2_PROTOCOL_ERROR,
    );
  });

  it('does not count a length that the server announces', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'content-length': 1 });
      stream.end('more than one');
    };
    const exchange = upgrade(await open());
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.body.toString()).toBe('more than one');
  });

  it('shares its connection with many others and with requests, whoever of them does not read', async () => {
    answer = (stream, headers) => {
      if (headers[':method'] === 'CONNECT') echo(stream, headers);
      else {
        stream.respond({ ':status': 200 });
        stream.end('plain');
      }
    };
    const connection = await open();
    const slow = await tunnel(connection);
    slow.exchange.stream?.pause();
    // More than all that fits between the caller and the one that does not read.
    slow.caller.resumed = () => {
      while (!slow.caller.isPaused) slow.caller.send('x'.repeat(50_000));
    };
    slow.caller.resumed();
    const tunnels = await Promise.all(Array.from({ length: 50 }, () => tunnel(connection)));
    const requests = Array.from({ length: 40 }, () => world.send(connection));
    for (const [index, { caller }] of tunnels.entries()) caller.send(`message ${index}`);
    for (const request of requests) expect(await request.ended()).toBe('complete');
    for (const [index, { exchange, caller }] of tunnels.entries()) {
      await receives(exchange, `message ${index}`);
      caller.send('', true);
      expect(await exchange.ended()).toBe('complete');
    }
    expect(slow.caller.isPaused).toBe(true);
    expect(slow.exchange.body).toHaveLength(0);
    await eventually(() => expect(connection.carried).toBe(1), { intervalMs: 1 });
    expect(sessions).toHaveLength(1);
  });
});
