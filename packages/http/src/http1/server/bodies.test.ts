import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import {
  CHUNKED,
  GET,
  onClosed,
  POST,
  respond,
  serveEachTest,
  sink,
} from '../../../test/http1-world.ts';
import type { Http1Exchange } from './exchange.ts';

const world = serveEachTest();

describe('a body', () => {
  it('is available as a whole with the head if it is small', async () => {
    const bodies: (string | undefined)[] = [];
    world.onExchange = (exchange) => {
      expect(exchange.body.ended).toBe('complete');
      bodies.push(exchange.body.takeWhole(10)?.toString());
      respond(exchange, 'ok');
    };
    const connection = await world.open();
    connection.send(`${POST}5\r\n\r\nhello${POST}0\r\n\r\n`);
    for (let index = 0; index < 2; index += 1) {
      expect(await (await connection.response()).text()).toBe('ok');
    }
    expect(bodies).toEqual(['hello', '']);
  });

  it('is passed on byte for byte, with its end, if a handler starts it instead', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_none, index) => index));
    const calls: [Buffer | string, boolean][] = [];
    world.onExchange = (exchange) => {
      expect(exchange.body.takeWhole(255)).toBeUndefined();
      exchange.body.start(sink({ data: (part, last) => void calls.push([part, last]) }));
      expect(exchange.body.takeWhole(256)).toBeUndefined();
      respond(exchange, 'over');
    };
    const connection = await world.open();
    connection.send(Buffer.concat([Buffer.from(`${POST}256\r\n\r\n`), bytes]));
    expect(await (await connection.response()).text()).toBe('over');
    expect(calls).toEqual([[bytes, true]]);
  });

  it('is kept until a handler starts it, and stops while it pauses', async () => {
    let exchange: Http1Exchange | undefined;
    let received = '';
    world.onExchange = (one) => (exchange = one);
    const connection = await world.open();
    connection.send(`${POST}8\r\n\r\nabc`);
    await eventually(() => expect(exchange).toBeDefined());
    const body = exchange?.body;
    expect(body?.takeWhole(10)).toBeUndefined();
    body?.start(
      sink({
        data(chunk, last) {
          if (received === '') body.pause();
          received += chunk.toString();
          if (last && exchange !== undefined) respond(exchange, 'over');
        },
      }),
    );
    expect(received).toBe('abc');
    connection.send('defgh');
    await eventually(() => expect(body?.ended).toBe('complete'));
    expect(received).toBe('abc');
    body?.resume();
    expect(await (await connection.response()).text()).toBe('over');
    expect(received).toBe('abcdefgh');
  });

  it('goes on in order if a handler pauses and resumes within a part of what has waited', async () => {
    let exchange: Http1Exchange | undefined;
    let received = '';
    world.onExchange = (one) => (exchange = one);
    const connection = await world.open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(exchange).toBeDefined());
    connection.send(Buffer.alloc(50_000, 'a'));
    connection.send(Buffer.alloc(50_000, 'b'));
    await eventually(() => expect(exchange?.body.ended).toBe('complete'));
    const body = exchange?.body;
    body?.start(
      sink({
        data(chunk, last) {
          body.pause();
          received += chunk.toString();
          body.resume();
          if (last && exchange !== undefined) respond(exchange, 'over');
        },
      }),
    );
    expect(await (await connection.response()).text()).toBe('over');
    expect(received).toBe('a'.repeat(50_000) + 'b'.repeat(50_000));
  });

  it('is not read beyond a limit while no handler reads it', async () => {
    world.onExchange = () => undefined;
    const connection = await world.open();
    connection.send(`${POST}100000000\r\n\r\n`);
    const piece = Buffer.alloc(1024 * 1024);
    for (let pieces = 0; pieces < 32; pieces += 1) connection.socket.write(piece);
    await eventually(() => expect(connection.socket.writableLength).toBeGreaterThan(0));
    let before = -1;
    await eventually(() => {
      const left = connection.socket.writableLength;
      const settled = left === before;
      before = left;
      expect(settled).toBe(true);
    });
    expect(before).toBeGreaterThan(16 * 1024 * 1024);
  });

  it.each([
    {
      how: 'read as a whole',
      take: ({ body }: Http1Exchange) => expect(body.takeWhole(100_000)).toHaveLength(100_000),
    },
    { how: 'not read', take: () => undefined },
  ])('above the limit does not stop the reading of the connection: $how', async ({ take }) => {
    const exchanges: Http1Exchange[] = [];
    let end: string | undefined;
    world.onExchange = (exchange) => {
      exchanges.push(exchange);
      onClosed(exchange, (how) => (end = how));
    };
    const connection = await world.open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(exchanges).toHaveLength(1));
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(exchanges[0]?.body.ended).toBe('complete'));
    const [exchange] = exchanges;
    if (exchange !== undefined) {
      take(exchange);
      respond(exchange, 'first');
    }
    expect(await (await connection.response()).text()).toBe('first');
    connection.send(GET);
    await eventually(() => expect(exchanges).toHaveLength(2));
    connection.destroy();
    await eventually(() => expect(end).toBe('peer_left'));
  });

  it('above the limit does not hide that the caller leaves', async () => {
    let exchange: Http1Exchange | undefined;
    let end: string | undefined;
    world.onExchange = (one) => {
      exchange = one;
      onClosed(one, (how) => (end = how));
    };
    const connection = await world.open();
    connection.send(`${POST}100000\r\n\r\n`);
    await eventually(() => expect(exchange).toBeDefined());
    connection.send(Buffer.alloc(100_000));
    await eventually(() => expect(exchange?.body.ended).toBe('complete'));
    expect(exchange?.body.takeWhole(100_000)).toHaveLength(100_000);
    connection.destroy();
    await eventually(() => expect(end).toBe('peer_left'));
  });

  it('is reported as malformed to the handler, and the connection ends after the response', async () => {
    const ends: string[] = [];
    let begun = 0;
    world.onExchange = (exchange) => {
      begun += 1;
      exchange.body.start(sink({ failed: (end) => respond(exchange, end) }));
      onClosed(exchange, (end) => ends.push(end));
    };
    const connection = await world.open();
    connection.send(CHUNKED);
    await eventually(() => expect(begun).toBe(1));
    connection.send(`5\r\nhello\r\nzz\r\n${GET}`);
    const response = await connection.response();
    expect(await response.text()).toBe('malformed');
    expect(response.headers.get('connection')).toBe('close');
    await eventually(() => expect(connection.ended).toBe(true));
    expect({ ends, begun }).toEqual({ ends: ['complete'], begun: 1 });
  });

  it('is reported as malformed also if it is from its first byte', async () => {
    world.onExchange = (exchange) => respond(exchange, String(exchange.body.ended));
    const connection = await world.open();
    connection.send(`${CHUNKED}zz\r\n`);
    expect(await (await connection.response()).text()).toBe('malformed');
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('gets no second response if its rest is malformed', async () => {
    world.onExchange = (exchange) => respond(exchange, 'early');
    const connection = await world.open();
    connection.send(CHUNKED);
    expect(await (await connection.response()).text()).toBe('early');
    connection.send('zz\r\n');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toBe('');
  });

  it.each([
    [
      'with chunks',
      '1.1',
      /transfer-encoding: chunked\r\n.*\r\n\r\n2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n$/is,
    ],
    ['until the connection closes', '1.0', /connection: close\r\n\r\nabcd$/is],
  ])('of a response without a length is sent %s in HTTP/%s', async (_case, version, expected) => {
    world.onExchange = (exchange) => {
      exchange.respond(200, 'OK', [], false);
      exchange.send('ab', false);
      exchange.send('cd', true);
    };
    const connection = await world.open();
    connection.send(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`);
    await eventually(() => expect(connection.receivedText).toMatch(expected));
  });
});

describe('the head of a response', () => {
  it('waits for the first part of its body, or for a flush', async () => {
    let exchange: Http1Exchange | undefined;
    world.onExchange = (one) => {
      exchange = one;
      one.respond(200, 'OK', ['Content-Length', '2'], false);
    };
    const connection = await world.open();
    connection.send(GET);
    await eventually(() => expect(exchange).toBeDefined());
    expect(exchange?.connection.socket.bytesWritten).toBe(0);
    exchange?.flush();
    await eventually(() => expect(connection.receivedText).toMatch(/\r\n\r\n$/));
    exchange?.send('ok', true);
    await eventually(() => expect(connection.receivedText).toMatch(/\r\n\r\nok$/));
  });

  it('is the whole response if it is the last part', async () => {
    world.onExchange = (exchange) => exchange.respond(204, 'No Content', [], true);
    const connection = await world.open();
    connection.send(GET + GET);
    for (let index = 0; index < 2; index += 1) {
      expect((await connection.response()).status).toBe(204);
    }
  });
});
