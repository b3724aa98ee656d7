import { once } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { http2ClientEachTest } from '../../../test/http2-client-world.ts';
import type { BodySource } from '../../exchange.ts';

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const world = http2ClientEachTest();
let server: Http2Server;
let answer: Answer;
let sessions: ServerHttp2Session[];

function listen(options: object = {}): void {
  server = createServer(options);
  sessions = [];
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream as ServerHttp2Stream, headers);
  });
  server.listen(0, '127.0.0.1');
}

beforeEach(async () => {
  listen();
  await once(server, 'listening');
});
afterEach(() => {
  for (const session of sessions) session.destroy();
  server.close();
});

const open = () => world.open((server.address() as AddressInfo).port);

const echo: Answer = (stream) => {
  stream.respond({ ':status': 200 });
  stream.pipe(stream);
};

/** A body in parts of a size, of which one is sent for each turn of the event loop. */
function parts(bytes: Buffer, size: number): BodySource {
  let at = 0;
  let isPaused = false;
  let next: () => void = () => undefined;
  return {
    ended: undefined,
    start(sink) {
      next = () => {
        if (isPaused) return;
        const part = bytes.subarray(at, at + size);
        at += part.length;
        const last = at === bytes.length;
        sink.data(part, last);
        if (!last) setImmediate(next);
      };
      setImmediate(next);
    },
    pause: () => void (isPaused = true),
    resume() {
      if (!isPaused) return;
      isPaused = false;
      setImmediate(next);
    },
    discard: () => void (isPaused = true),
  };
}

describe('a server of node:http2', () => {
  it.each([0, 1, 100, 16_384, 65_535, 65_536, 200_000, 3_000_000])(
    'gets a body of %d bytes and sends it back',
    async (length) => {
      answer = echo;
      const connection = await open();
      const bytes = Buffer.alloc(length, 'abcdefgh');
      const whole = world.send(connection, { method: 'POST', body: bytes });
      expect(await whole.ended()).toBe('complete');
      expect(whole.body.equals(bytes)).toBe(true);
      if (length === 0) return;
      const body = parts(bytes, 10_000);
      const streamed = world.send(connection, { method: 'POST', body });
      expect(await streamed.ended()).toBe('complete');
      expect(streamed.body.equals(bytes)).toBe(true);
    },
  );

  it('sends interim responses, heads that need CONTINUATION, and trailers', async () => {
    answer = (stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' });
      stream.respond(
        { ':status': 200, 'x-long': 'ä'.repeat(8000), 'x-more': 'y'.repeat(20_000) },
        { waitForTrailers: true },
      );
      stream.on('wantTrailers', () => {
        stream.sendTrailers({ 'grpc-status': '0' });
      });
      stream.end('body');
    };
    const exchange = world.send(await open());
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.hinted).toEqual([['link', '</a.css>; rel=preload']]);
    expect(exchange.response?.fields).toContain('y'.repeat(20_000));
    expect(exchange.trailers).toEqual(['grpc-status', '0']);
  });

  it('gets trailers', async () => {
    let trailers: unknown;
    answer = (stream) => {
      stream.on('trailers', (fields: unknown) => (trailers = fields));
      stream.respond({ ':status': 200 });
      stream.resume().on('end', () => stream.end());
    };
    const connection = await open();
    const body: BodySource = {
      ...parts(Buffer.from('x'), 1),
      start: (sink) => {
        sink.data('x', true, ['X-Sum', '1']);
      },
    };
    expect(await world.send(connection, { method: 'POST', body }).ended()).toBe('complete');
    expect(trailers).toMatchObject({ 'x-sum': '1' });
  });

  it('refuses, resets and cancels streams, each for itself', async () => {
    const codes = [
      constants.NGHTTP2_REFUSED_STREAM,
      constants.NGHTTP2_INTERNAL_ERROR,
      constants.NGHTTP2_CANCEL,
    ];
    answer = (stream, headers) => {
      const code = Number(headers['x-code']);
      if (code > 0) stream.close(code);
      else echo(stream, headers);
    };
    const connection = await open();
    const all = [0, ...codes].map((code) =>
      world.send(connection, { fields: ['x-code', `${code}`] }),
    );
    const ends = await Promise.all(all.map((one) => one.ended()));
    expect(ends).toEqual(['complete', ['refused_stream', false], ['reset', true], ['reset', true]]);
  });

  it('that closes gracefully completes the streams in progress', async () => {
    const held: ServerHttp2Stream[] = [];
    answer = (stream) => void held.push(stream);
    const connection = await open();
    const all = Array.from({ length: 20 }, () => world.send(connection));
    await eventually(() => expect(held).toHaveLength(20), { intervalMs: 1 });
    for (const session of sessions) session.close();
    await eventually(() => expect(world.announced).toBe(1), { intervalMs: 1 });
    for (const stream of held) {
      stream.respond({ ':status': 200 });
      stream.end('late');
    }
    for (const one of all) expect(await one.ended()).toBe('complete');
    await eventually(() => expect(world.closed).toBe(1), { intervalMs: 1 });
  });

  it('carries a thousand streams on ten connections, beside one slow reader on each', async () => {
    answer = (stream, headers) => {
      stream.respond({ ':status': 200, 'x-path': String(headers[':path']) });
      stream.end(Buffer.alloc(headers[':path'] === '/slow' ? 500_000 : 5000, 'z'));
    };
    const connections = await Promise.all(Array.from({ length: 10 }, open));
    const slow = connections.map((connection) => {
      const exchange = world.send(connection, { path: '/slow' });
      exchange.head = () => {
        exchange.stream?.pause();
      };
      return exchange;
    });
    const all = connections.flatMap((connection) =>
      Array.from({ length: 99 }, (_none, index) => world.send(connection, { path: `/${index}` })),
    );
    for (const one of all) expect(await one.ended()).toBe('complete');
    expect(all.every(({ body }) => body.length === 5000)).toBe(true);
    expect(slow.every(({ end, body }) => end === undefined && body.length === 0)).toBe(true);
    for (const one of slow) one.stream?.resume();
    for (const one of slow) {
      expect(await one.ended()).toBe('complete');
      expect(one.body).toHaveLength(500_000);
    }
  });
});
