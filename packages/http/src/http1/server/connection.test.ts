import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { GET, POST, respond, serveEachTest } from '../../../test/http1-world.ts';
import type { Http1Exchange } from './exchange.ts';

const world = serveEachTest({ lingerTimeoutMs: 2000 });

describe('an HTTP/1.1 connection', () => {
  it('refuses malformed bytes after the response to a valid request', async () => {
    let held: Http1Exchange | undefined;
    world.onExchange = (exchange) => (held = exchange);
    const connection = await world.open();
    connection.send(`${GET}noise\r\n\r\n`);
    await eventually(() => expect(held).toBeDefined());
    if (held !== undefined) respond(held, 'mine');
    expect(await (await connection.response()).text()).toBe('mine');
    expect((await connection.response()).status).toBe(400);
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('lets a caller that still sends read its last response, and closes in bounded time', async () => {
    world.onExchange = (exchange) => respond(exchange, 'no', ['Connection', 'close']);
    const connection = await world.open();
    connection.send(`${POST}100000000\r\n\r\n`);
    const pour = setInterval(() => connection.socket.write(Buffer.alloc(100_000)), 5);
    try {
      const response = await connection.response();
      expect(await response.text()).toBe('no');
      await eventually(() => expect(connection.socket.closed).toBe(true));
    } finally {
      clearInterval(pour);
    }
  });

  it('answers many pipelined requests in order, and does not delay other connections', async () => {
    let mostAtOnce = 0;
    let inTurn = 0;
    world.onExchange = (exchange) => {
      inTurn += 1;
      mostAtOnce = Math.max(mostAtOnce, inTurn);
      setImmediate(() => (inTurn = 0));
      respond(exchange, 'ok');
    };
    const connection = await world.open();
    connection.send(GET.repeat(500));
    for (let index = 0; index < 500; index += 1) {
      expect(await (await connection.response()).text()).toBe('ok');
    }
    expect(mostAtOnce).toBeLessThan(64);
  });

  it.each([
    ['a whole request', GET, ''],
    ['a request whose body ends after the response', `${POST}4\r\n\r\n`, 'body'],
  ])('keeps nothing of %s while it waits for the next one', async (_kind, start, rest) => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const seen: WeakRef<Http1Exchange>[] = [];
    world.onExchange = (exchange) => {
      seen.push(new WeakRef(exchange));
      respond(exchange, 'ok');
    };
    const connection = await world.open();
    connection.send(start);
    expect(await (await connection.response()).text()).toBe('ok');
    connection.send(rest);
    // Collecting takes long on a busy machine: the rest would arrive after the time that is granted for it.
    await eventually(() => expect(seen[0]?.deref()?.body.ended ?? 'complete').toBe('complete'));
    await eventually(() => {
      collectGarbage();
      expect(seen.map((exchange) => exchange.deref())).toEqual([undefined]);
    });
    connection.send(GET);
    expect(await (await connection.response()).text()).toBe('ok');
  });

  it('never writes a value with a line break', async () => {
    let refused: unknown;
    world.onExchange = (exchange) => {
      try {
        exchange.respond(200, 'OK', ['X-A', 'a\r\nX-B: b'], true);
      } catch (error) {
        refused = error;
        respond(exchange, 'ok');
      }
    };
    const connection = await world.open();
    connection.send(GET);
    expect((await connection.response()).headers.get('x-b')).toBeNull();
    expect(refused).toBeInstanceOf(Error);
  });

  it('drops hints that the caller does not read, never a 100, and sends neither after the response', async () => {
    const hint = ['X-A', 'x'.repeat(60_000)];
    let hints = 0;
    let continued = false;
    // All in one turn, in which nothing is read: more than the sockets hold.
    world.onExchange = (exchange) => {
      while (hints < 1000 && exchange.sendInterim(103, hint)) hints += 1;
      continued = exchange.sendInterim(100, []);
      respond(exchange, 'ok');
      exchange.sendInterim(100, []);
    };
    const connection = await world.open();
    connection.send(GET);
    await eventually(() => expect(connection.receivedText.endsWith('\r\n\r\nok')).toBe(true));
    const statuses = [...connection.receivedText.matchAll(/HTTP\/1\.1 (\d+)/g)].map(
      ([, code]) => code,
    );
    expect([hints < 1000, continued]).toEqual([true, true]);
    expect(statuses).toEqual([...Array.from({ length: hints }, () => '103'), '100', '200']);
  });
});
