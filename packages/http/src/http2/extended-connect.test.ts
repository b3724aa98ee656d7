import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { data, fieldBlock, frame, type Fields } from '../../test/http2-frames.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import { ERROR, FLAG, FRAME, SETTING } from './protocol.ts';

const world = serveHttp2EachTest({ webSocketKey: () => 'made' });

const REQUEST: Fields = [
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':scheme', 'https'],
  [':path', '/chat'],
  [':authority', 'gateway.test'],
  ['sec-websocket-version', '13'],
];
const connect = (fields: Fields) => frame(FRAME.headers, FLAG.endHeaders, 1, fieldBlock(fields));

describe('extended CONNECT (RFC 8441)', () => {
  it('is announced, and opens a stream in both directions', async () => {
    let text = '';
    world.onExchange = (exchange) => {
      exchange.respond(
        101,
        '',
        ['sec-websocket-accept', 'a', 'sec-websocket-protocol', 'chat'],
        false,
      );
      exchange.body.start({
        data(bytes, last) {
          text += bytes.toString('latin1');
          exchange.send(bytes, last);
        },
        failed: () => undefined,
      });
    };
    const client = await world.connect();
    const { payload } = await client.frame(FRAME.settings);
    expect(payload.includes(Buffer.from([0, SETTING.enableConnectProtocol, 0, 0, 0, 1]))).toBe(
      true,
    );
    client.send(connect(REQUEST));
    const head = client.fields(await client.frame(FRAME.headers, 1));
    expect(head).toEqual({
      ':status': '200',
      'sec-websocket-protocol': 'chat',
      date: expect.stringMatching(/ GMT$/),
    });
    expect(world.seen[0]?.exchange.head).toMatchObject({
      method: 'GET',
      url: '/chat',
      upgrade: 'websocket',
      fields: ['host', 'gateway.test', 'sec-websocket-version', '13', 'sec-websocket-key', 'made'],
    });
    client.send(data('ping'));
    await eventually(() => expect(client.of(FRAME.data, 1)).toHaveLength(1));
    client.send(data('end', FLAG.endStream));
    expect(await client.body()).toBe('pingend');
    expect(text).toBe('pingend');
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
  });

  it('has no trailers from the server, and ends with those of the client', async () => {
    let end: HeaderFields | undefined;
    world.onExchange = (exchange) => {
      exchange.respond(101, '', [], false);
      exchange.body.start({
        data(bytes, last, trailers) {
          if (last) end = trailers;
          exchange.send(bytes, last, ['x-sum', '7']);
        },
        failed: () => undefined,
      });
    };
    const client = await world.connect();
    const last = FLAG.endHeaders | FLAG.endStream;
    client.send(
      connect(REQUEST),
      data('ping'),
      frame(FRAME.headers, last, 1, fieldBlock([['x-a', '1']])),
    );
    expect(await client.body()).toBe('ping');
    expect(end).toEqual(['x-a', '1']);
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
  });

  it('keeps the key of a client that sends one', async () => {
    const client = await world.connect();
    client.send(connect([...REQUEST, ['sec-websocket-key', 'own']]));
    await eventually(() => expect(world.seen).toHaveLength(1));
    expect(world.seen[0]?.exchange.head.fields.slice(-2)).toEqual(['sec-websocket-key', 'own']);
  });

  it('for another protocol has the method CONNECT', async () => {
    const client = await world.connect();
    const fields = REQUEST.map(
      ([name, value]) => [name, value === 'websocket' ? 'connect-udp' : value] as const,
    );
    client.send(connect(fields));
    await eventually(() => expect(world.seen).toHaveLength(1));
    const { head } = world.seen[0]?.exchange ?? {};
    expect(head).toMatchObject({ method: 'CONNECT', upgrade: 'connect-udp' });
  });

  it('that is refused gets the response, and its stream ends', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(403, '', ['content-length', '0'], true);
    };
    const client = await world.connect();
    client.send(connect(REQUEST), data('early'));
    const { payload } = await client.frame(FRAME.rstStream, 1);
    expect(payload.readUInt32BE(0)).toBe(ERROR.noError);
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
  });

  it('is complete, however it ends, once its head was sent', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(101, '', [], false);
    };
    const client = await world.connect();
    client.send(connect(REQUEST));
    await client.frame(FRAME.headers, 1);
    client.destroy();
    await eventually(() => expect(world.seen[0]?.end).toBe('complete'));
  });

  it.each<[string, Fields]>([
    ['another method', [[':method', 'GET'], ...REQUEST.slice(1)]],
    ['an empty protocol', [...REQUEST.slice(0, 1), [':protocol', ''], ...REQUEST.slice(2)]],
    ['no path', REQUEST.filter(([name]) => name !== ':path')],
    ['no scheme', REQUEST.filter(([name]) => name !== ':scheme')],
    ['no authority', REQUEST.filter(([name]) => name !== ':authority')],
    ['a length', [...REQUEST, ['content-length', '5']]],
  ])('is malformed with %s', async (_what, fields) => {
    const client = await world.connect();
    client.send(connect(fields));
    const { payload } = await client.frame(FRAME.rstStream, 1);
    expect(payload.readUInt32BE(0)).toBe(ERROR.protocolError);
  });

  it('is not plain CONNECT, which has neither path nor scheme', async () => {
    const client = await world.connect();
    const plain: Fields = [
      [':method', 'CONNECT'],
      [':authority', 'other.test:443'],
    ];
    client.send(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, fieldBlock(plain)));
    await client.ended();
    expect(world.seen[0]?.exchange.head).toMatchObject({ url: '*', upgrade: undefined });
  });
});
