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
  windowUpdate,
} from '../../test/http2-frames.ts';
import { serveHttp2EachTest } from '../../test/http2-world.ts';
import type { RequestBodySource } from '../exchange.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { UnsendableError } from '../message/message-writer.ts';
import { FLAG, FRAME, SETTING } from './protocol.ts';

const world = serveHttp2EachTest();
const TRAILERS = frame(FRAME.headers, HEAD, 1, fieldBlock([['x-sum', '7']]));

describe('the trailers of a request', () => {
  it.each([
    ['after a body', [post(), data('hel'), data('lo'), TRAILERS], 'hello', ['x-sum', '7']],
    ['after no body', [post(), TRAILERS], '', ['x-sum', '7']],
    ['without a field', [post(), frame(FRAME.headers, HEAD, 1)], '', undefined],
  ])(
    '%s come with its end, and are beside a body that is taken whole',
    async (_what, frames, text, trailers) => {
      const held = world.holdAll();
      const client = await world.connect();
      client.send(...frames);
      await eventually(() => expect(held[0]?.body.ended).toBe('complete'));
      const body = held[0]?.body as RequestBodySource;
      expect(String(body.takeWhole(10))).toBe(text);
      expect(body.trailers).toEqual(trailers);
    },
  );

  it('come with the last part of a body that is read as it arrives', async () => {
    const ends: [boolean, HeaderFields | undefined][] = [];
    world.onExchange = ({ body }) => {
      body.start({
        data: (_bytes, last, trailers) => void ends.push([last, trailers]),
        failed: () => undefined,
      });
    };
    const client = await world.connect();
    client.send(post(), data('hello'));
    await eventually(() => expect(ends).toEqual([[false, undefined]]));
    client.send(TRAILERS);
    await eventually(() =>
      expect(ends).toEqual([
        [false, undefined],
        [true, ['x-sum', '7']],
      ]),
    );
  });
});

describe('the trailers of a response', () => {
  it.each([
    ['without a length', []],
    ['with a length', ['content-length', '5']],
  ])('are sent after a body %s', async (_what, fields) => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', fields, false);
      exchange.send('hello', true, ['X-Sum', '7']);
    };
    const client = await world.connect();
    client.send(get());
    expect(await client.body()).toBe('hello');
    const [, trailers] = client.of(FRAME.headers, 1);
    expect(trailers === undefined ? {} : client.fields(trailers)).toEqual({ 'x-sum': '7' });
    expect(trailers?.flags).toBe(HEAD);
    for (const { flags } of client.of(FRAME.data, 1)) expect(flags & FLAG.endStream).toBe(0);
  });

  it('wait until the windows allow all of the body', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      exchange.send('hello', true, ['x-sum', '7']);
    };
    const client = await world.connect([SETTING.initialWindowSize, 2]);
    client.send(get());
    await client.settled();
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
    client.send(windowUpdate(3));
    expect(await client.body()).toBe('hello');
    expect(client.of(FRAME.headers, 1)).toHaveLength(2);
  });

  it.each([
    ['to HEAD', 'HEAD', 200],
    ['with the status 204', 'GET', 204],
    ['with the status 304', 'GET', 304],
  ])('%s are not sent', async (_what, method, code) => {
    world.onExchange = (exchange) => {
      exchange.respond(code, '', [], false);
      exchange.send('', true, ['x-sum', '7']);
    };
    const client = await world.connect();
    client.send(frame(FRAME.headers, HEAD, 1, fieldBlock(pseudo(method))));
    await client.ended();
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
  });

  it('are refused with a control character, before anything is sent', async () => {
    world.onExchange = (exchange) => {
      exchange.respond(200, '', [], false);
      expect(() => exchange.send('a', true, ['x-sum', '7\n'])).toThrow(UnsendableError);
      exchange.send('b', true);
    };
    const client = await world.connect();
    client.send(get());
    expect(await client.body()).toBe('b');
    expect(client.of(FRAME.headers, 1)).toHaveLength(1);
  });
});
