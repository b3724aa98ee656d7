import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { GET, POST, respond, serveEachTest } from '../../test/http1-world.ts';
import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';

const world = serveEachTest();

describe('an HTTP/1.1 connection', () => {
  it('refuses malformed bytes after the response to a valid request', async () => {
    let held: ServerResponse | undefined;
    world.onRequest = (_request, response) => (held = response);
    const connection = await world.open();
    connection.send(`${GET}noise\r\n\r\n`);
    await eventually(() => expect(held).toBeDefined());
    if (held !== undefined) respond(held, 'mine');
    expect(await (await connection.response()).text()).toBe('mine');
    expect((await connection.response()).status).toBe(400);
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('lets a caller that still sends read its last response, and closes in bounded time', async () => {
    world.onRequest = (_request, response) => respond(response, 'no', ['Connection', 'close']);
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
    world.onRequest = (_request, response) => {
      inTurn += 1;
      mostAtOnce = Math.max(mostAtOnce, inTurn);
      setImmediate(() => (inTurn = 0));
      respond(response, 'ok');
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
    const seen: WeakRef<ServerRequest>[] = [];
    world.onRequest = (request, response) => {
      seen.push(new WeakRef(request));
      request.dropRest();
      respond(response, 'ok');
    };
    const connection = await world.open();
    connection.send(start);
    expect(await (await connection.response()).text()).toBe('ok');
    connection.send(rest);
    await eventually(() => {
      collectGarbage();
      expect(seen.map((request) => request.deref())).toEqual([undefined]);
    });
    connection.send(GET);
    expect(await (await connection.response()).text()).toBe('ok');
  });

  it('never writes a value with a line break', async () => {
    let refused: unknown;
    world.onRequest = (_request, response) => {
      try {
        response.writeHead(200, ['X-A', 'a\r\nX-B: b']);
      } catch (error) {
        refused = error;
        respond(response, 'ok');
      }
    };
    const connection = await world.open();
    connection.send(GET);
    expect((await connection.response()).headers.get('x-b')).toBeNull();
    expect(refused).toBeInstanceOf(Error);
  });
});
