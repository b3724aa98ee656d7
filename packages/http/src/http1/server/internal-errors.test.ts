import type { Socket } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import {
  GET,
  onClosed,
  POST,
  respond,
  serveEachTest,
  sink,
  type OnExchange,
} from '../../../test/http1-world.ts';

const world = serveEachTest();
const BUG = new Error('a bug');

function fails(): never {
  throw BUG;
}

const withBody = `${POST}4\r\n\r\n`;
const LARGE = 'x'.repeat(32 * 1024 * 1024);

describe('an internal error ends its connection, is reported once, and leaves others alone', () => {
  it.each<[string, string, OnExchange]>([
    ['in the handler of a request', GET, fails],
    [
      'when a part of the body arrives',
      withBody,
      ({ body }) => body.start({ data: fails, failed: fails }),
    ],
    [
      'when a body that has waited is read',
      `${withBody}body`,
      ({ body }) => body.start(sink({ data: fails })),
    ],
    [
      'when a body that has waited is resumed',
      withBody,
      ({ body }) => {
        body.start(sink({ data: fails }));
        body.pause();
        setImmediate(function resume() {
          if (body.ended === undefined) setImmediate(resume);
          else body.resume();
        });
      },
    ],
    [
      'when a response closes',
      GET,
      (exchange) => {
        onClosed(exchange, fails);
        exchange.connection.socket.destroy();
      },
    ],
    [
      'when the caller takes more of a response',
      GET,
      (exchange) => {
        exchange.handler = { writable: fails, closed: () => undefined };
        exchange.respond(200, 'OK', [], false);
        exchange.send(LARGE, false);
      },
    ],
    [
      'when the end of a response was sent later',
      GET,
      (exchange) => {
        onClosed(exchange, fails);
        respond(exchange, LARGE);
      },
    ],
  ])('%s', async (_where, start, onExchange) => {
    let socket: Socket | undefined;
    world.onExchange = (exchange) => {
      ({ socket } = exchange.connection);
      onExchange(exchange);
    };
    const connection = await world.open();
    connection.socket.removeAllListeners('data').resume();
    connection.send(start);
    await eventually(() => expect(socket).toBeDefined());
    connection.send('body');
    await eventually(() => expect(world.internalErrors).toEqual([BUG]));
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(world.internalErrors).toEqual([BUG]);

    world.onExchange = (exchange) => respond(exchange, 'ok');
    const other = await world.open();
    other.send(GET);
    expect(await (await other.response()).text()).toBe('ok');
  });

  it('when a request ends early does not keep its response from its end', async () => {
    let closed = 0;
    world.onExchange = (exchange) => {
      exchange.body.start(sink({ failed: fails }));
      onClosed(exchange, () => (closed += 1));
      exchange.connection.socket.destroy();
    };
    const connection = await world.open();
    connection.send(withBody);
    await eventually(() => expect(world.internalErrors).toEqual([BUG]));
    expect(closed).toBe(1);
  });

  it('in a pipelined request is not that of the request before it', async () => {
    let thrown: unknown;
    world.onExchange = (exchange) => {
      world.onExchange = fails;
      setImmediate(() => {
        try {
          respond(exchange, 'ok');
        } catch (error) {
          thrown = error;
        }
      });
    };
    const connection = await world.open();
    connection.send(GET + GET);
    await eventually(() => expect(world.internalErrors).toEqual([BUG]));
    expect(thrown).toBeUndefined();
    await eventually(() => expect(connection.ended).toBe(true));
  });
});
