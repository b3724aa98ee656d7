import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import {
  data,
  fieldBlock,
  frame,
  get,
  HEAD,
  post,
  pseudo,
  reset,
  windowUpdate,
} from '../../test/http2-frames.ts';
import { collect, serveHttp2EachTest } from '../../test/http2-world.ts';
import type { RequestBodySource } from '../exchange.ts';
import { FLAG, FRAME } from './protocol.ts';

const world = serveHttp2EachTest();

describe('a request', () => {
  it('has the fields that HTTP/1.1 would have', async () => {
    const held = world.holdAll();
    const client = await world.connect();
    client.send(
      post(1, [
        ['cookie', 'a=1'],
        ['host', 'gateway.test'],
        ['x-own', 'v'],
        ['cookie', 'b=2'],
        ['te', 'trailers'],
        ['http2-settings', 'x'],
        ['content-length', '4'],
      ]),
    );
    await eventually(() => expect(held).toHaveLength(1));
    expect(held[0]?.head).toEqual({
      method: 'POST',
      url: '/',
      httpVersion: '2.0',
      fields: [
        ...['host', 'gateway.test', 'x-own', 'v', 'te', 'trailers'],
        ...['content-length', '4', 'cookie', 'a=1; b=2'],
      ],
      framing: { kind: 'length', bytes: 4 },
      keepAlive: true,
      upgrade: undefined,
    });
  });

  it.each<[string, Buffer]>([
    ['by its caller', reset()],
    ['by this end', windowUpdate(0)],
  ])('that is reset in the read that has opened it reaches no handler: %s', async (_by, after) => {
    const client = await world.connect();
    client.send(post(), after, get(3));
    await client.ended(3);
    expect(world.seen).toHaveLength(1);
  });

  it('is handled once all of its read was read, so that a small body is there', async () => {
    let whole: unknown;
    world.onExchange = (exchange) => {
      whole = exchange.body.takeWhole(100);
      exchange.respond(200, '', [], true);
    };
    const client = await world.connect();
    client.send(post(), data('a'), data('b', FLAG.endStream));
    await client.ended();
    expect(String(whole)).toBe('ab');
    expect(client.resets()).toEqual([]);
  });

  it.each<[string, string, Buffer]>([
    [
      'header_overflow',
      'too many fields',
      get(
        1,
        Array.from({ length: 70 }, () => ['a', 'b']),
      ),
    ],
    ['header_overflow', 'too large fields', get(1, [['x-large', 'x'.repeat(5000)]])],
    [
      'target_overflow',
      'too long a path',
      frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo('GET', `/${'a'.repeat(5000)}`))),
    ],
    [
      'malformed_head',
      'bytes above ASCII',
      frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo('GET', '/\xe9'))),
    ],
  ])('is refused with a response: %s for %s', async (reason, _what, request) => {
    const client = await world.connect();
    client.send(request, get(3));
    expect(await client.body()).toBe('no\n');
    await client.ended(3);
    expect(client.status()).toBe('431');
    expect(world.refused).toEqual([reason]);
    expect(world.seen).toHaveLength(1);
  });

  it.each([
    ['asks for 100', [['expect', '100-continue']] as const],
    ['does not', []],
  ])('that %s gets no 100 unless its handler sends one', async (_what, fields) => {
    const client = await world.connect();
    client.send(post(1, fields), data('part'));
    await client.settled();
    client.send(data('end', FLAG.endStream));
    expect(await client.body()).toBe('partend');
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
    expect(client.status()).toBe('200');
  });

  it('has trailers after its body', async () => {
    const held = world.holdAll();
    const client = await world.connect();
    const trailers = frame(FRAME.headers, HEAD, 1, fieldBlock([['x-sum', '7']]));
    client.send(post(), data('body'), trailers);
    await eventually(() => expect(held).toHaveLength(1));
    const body = held[0]?.body as RequestBodySource;
    expect((await collect(body)).toString()).toBe('body');
    expect(body.trailers).toEqual(['x-sum', '7']);
  });
});
