import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { answer, http2ClientEachTest } from '../../../test/http2-client-world.ts';
import { data, fieldBlock, frame, HEAD, reset, windowUpdate } from '../../../test/http2-frames.ts';
import type { BodySink, BodySource, ClientRequest, End } from '../../exchange.ts';
import { ForwardedFields } from '../../message/message-writer.ts';
import { ERROR, FLAG, FRAME, SETTING } from '../protocol.ts';

const world = http2ClientEachTest();
const BOTH = FLAG.endHeaders | FLAG.endStream;

/** A body of which the test sends each part. */
class Source implements BodySource {
  ended: End | undefined = undefined;
  sink: BodySink | undefined = undefined;
  isPaused = false;
  isDiscarded = false;

  start(sink: BodySink): void {
    this.sink = sink;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  discard(): void {
    this.isDiscarded = true;
  }
}

describe('the head of a request', () => {
  it('has pseudo-header fields first, names in lower case, and no field of the connection', async () => {
    const { connection, peer } = await world.connect();
    world.send(connection, {
      method: 'PUT',
      path: '/a?b=c',
      host: 'b.test:8080',
      passed: [new ForwardedFields(['Accept', '*/*', 'Connection', 'keep-alive', 'TE', 'gzip'])],
      fields: ['X-Own', 'ü'.normalize('NFC'), 'Keep-Alive', 'timeout=5', 'Authorization', 'secret'],
      body: 'abc',
    });
    const head = await peer.frame(FRAME.headers, 1);
    expect(peer.list(head)).toEqual([
      [':method', 'PUT'],
      [':scheme', 'http'],
      [':authority', 'b.test:8080'],
      [':path', '/a?b=c'],
      ['accept', '*/*'],
      ['x-own', 'ü'],
      ['authorization', 'secret'],
      ['content-length', '3'],
    ]);
    // RFC 7541 section 6.2.3: never indexed, with the name of the static table.
    expect(head.payload.includes(Buffer.from([0x1f, 0x08, 6]))).toBe(true);
    expect(await peer.body()).toBe('abc');
  });

  it.each<[string, Partial<ClientRequest>, Record<string, string>]>([
    ['the host of the connection', {}, { ':authority': 'a.test' }],
    ['TE: trailers if trailers are taken', { takesTrailers: true }, { te: 'trailers' }],
    ['a length for a method that has a body', { method: 'POST' }, { 'content-length': '0' }],
  ])('has %s', async (_what, request, fields) => {
    const { connection, peer } = await world.connect();
    world.send(connection, request);
    expect(peer.fields(await peer.frame(FRAME.headers, 1))).toMatchObject(fields);
  });

  it.each<[string, Partial<ClientRequest>]>([
    ['a line break in a value', { fields: ['x-a', 'a\r\nb: c'] }],
    ['a line break in a value that is passed on', { passed: [new ForwardedFields(['x', '\n'])] }],
    ['a space before a value', { fields: ['x-a', ' a'] }],
    ['a character above one byte', { fields: ['x-a', '\u0100'] }],
    ['a space in the path', { path: '/a b' }],
    ['a space in the host', { host: 'a b' }],
    ['the method CONNECT', { method: 'CONNECT' }],
  ])('is not sent with %s', async (_what, request) => {
    const { connection, peer } = await world.connect();
    expect(world.send(connection, request).end).toEqual(['unsendable', false]);
    expect(connection.free).toBe(100);
    world.send(connection, { path: '/next' });
    expect(peer.fields(await peer.frame(FRAME.headers, 1))[':path']).toBe('/next');
  });

  it('needs CONTINUATION if it is larger than a frame', async () => {
    const { connection, peer } = await world.connect();
    const fields = Array.from({ length: 6 }, (_none, at) => [`x-${at}`, 'y'.repeat(4000)]).flat();
    peer.takesContinuation = true;
    world.send(connection, { fields });
    const head = await peer.frame(FRAME.headers, 1);
    await peer.frame(FRAME.continuation, 1, FLAG.endHeaders);
    expect(head.flags).toBe(FLAG.endStream);
  });

  it('leaves in one write with those of the same turn', async () => {
    const { connection, peer } = await world.connect();
    let reads = 0;
    peer.socket.on('data', () => (reads += 1));
    for (let index = 0; index < 50; index += 1) world.send(connection);
    await peer.frame(FRAME.headers, 99);
    expect(reads).toBe(1);
  });
});

describe('the body of a request', () => {
  it.each([
    ['an announced length', 6],
    ['no length', undefined],
  ])('streams with %s', async (_what, contentLength) => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    const exchange = world.send(connection, { method: 'POST', body, contentLength });
    await peer.frame(FRAME.headers, 1);
    body.sink?.data('abc', false);
    await peer.frame(FRAME.data, 1);
    body.sink?.data(Buffer.from('def'), true, ['X-Sum', '6']);
    expect(await peer.body()).toBe('abcdef');
    expect(peer.fields(await peer.frame(FRAME.headers, 1, FLAG.endStream))).toEqual({
      'x-sum': '6',
    });
    peer.send(answer(1, BOTH));
    expect(await exchange.ended()).toBe('complete');
  });

  it.each<[string, (sink: BodySink) => void]>([
    [
      'is longer than announced',
      (sink) => {
        sink.data('abcdef', false);
      },
    ],
    [
      'is shorter than announced',
      (sink) => {
        sink.data('a', true);
      },
    ],
    [
      'fails',
      (sink) => {
        sink.failed('peer_left');
      },
    ],
  ])('that %s resets its stream only', async (_what, act) => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    const exchange = world.send(connection, { method: 'POST', body, contentLength: 5 });
    const sibling = world.send(connection);
    await peer.frame(FRAME.headers, 3);
    if (body.sink !== undefined) act(body.sink);
    expect(await exchange.ended()).toEqual(['request_body', true]);
    await peer.frame(FRAME.rstStream, 1);
    expect(peer.resets()).toEqual([[1, ERROR.cancel]]);
    peer.send(answer(3, BOTH));
    expect(await sibling.ended()).toBe('complete');
  });

  it('that had failed before is not sent', async () => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    body.ended = 'malformed';
    expect(world.send(connection, { method: 'POST', body }).end).toEqual(['request_body', false]);
    await peer.settled();
    expect(peer.of(FRAME.headers)).toEqual([]);
    expect(connection.free).toBe(100);
  });

  it('of one stream waits for its window, and holds no other', async () => {
    const { connection, peer } = await world.connect();
    const slow = new Source();
    world.send(connection, { method: 'POST', body: slow });
    await peer.frame(FRAME.headers, 1);
    for (let part = 0; part < 20 && !slow.isPaused; part += 1) {
      slow.sink?.data(Buffer.alloc(16_000), false);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(slow.isPaused).toBe(true);
    peer.send(windowUpdate(1_000_000, 0));
    await peer.settled();
    expect(slow.isPaused).toBe(true);
    const other = world.send(connection, { method: 'POST', body: 'x'.repeat(50_000) });
    expect(await peer.body(3)).toHaveLength(50_000);
    peer.send(answer(3, BOTH));
    expect(await other.ended()).toBe('complete');
    peer.send(windowUpdate(1_000_000, 1));
    await eventually(() => expect(slow.isPaused).toBe(false), { intervalMs: 1 });
  });

  it('obeys windows that settings enlarge and make smaller', async () => {
    const { connection, peer } = await world.connect([SETTING.initialWindowSize, 10]);
    world.send(connection, { method: 'POST', body: 'x'.repeat(30) });
    const sent = () => peer.of(FRAME.data, 1).map(({ payload }) => payload.length);
    await peer.frame(FRAME.data, 1);
    await peer.settled();
    expect(sent()).toEqual([10]);
    peer.send(frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 5])), windowUpdate(5));
    await peer.settled();
    expect(sent()).toEqual([10]);
    peer.send(windowUpdate(20));
    expect(await peer.body()).toHaveLength(30);
  });

  it('is discarded if the response ends first, which is complete', async () => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    const exchange = world.send(connection, { method: 'POST', body });
    await peer.frame(FRAME.headers, 1);
    body.sink?.data('abc', false);
    await peer.frame(FRAME.data, 1);
    peer.send(answer(), data('early', FLAG.endStream), reset(ERROR.noError));
    expect(await exchange.ended()).toBe('complete');
    expect(String(exchange.body)).toBe('early');
    await peer.frame(FRAME.rstStream, 1);
    expect(peer.resets()).toEqual([[1, ERROR.noError]]);
    expect(body.isDiscarded).toBe(true);
    expect(connection.free).toBe(100);
  });

  it('goes on after the head of the response', async () => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    const exchange = world.send(connection, { method: 'POST', body });
    await peer.frame(FRAME.headers, 1);
    peer.send(answer(), data('first'));
    await eventually(() => expect(String(exchange.body)).toBe('first'), { intervalMs: 1 });
    body.sink?.data('second', true);
    expect(await peer.body()).toBe('second');
    peer.send(frame(FRAME.headers, HEAD, 1, fieldBlock([['grpc-status', '0']])));
    expect(await exchange.ended()).toBe('complete');
    expect(exchange.trailers).toEqual(['grpc-status', '0']);
  });

  it('is not sent with a trailer that has a line break', async () => {
    const { connection, peer } = await world.connect();
    const body = new Source();
    const exchange = world.send(connection, { method: 'POST', body });
    await peer.frame(FRAME.headers, 1);
    body.sink?.data('', true, ['x-a', '\r\n']);
    expect(await exchange.ended()).toEqual(['unsendable', true]);
  });
});
