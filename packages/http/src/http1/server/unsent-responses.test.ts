import type { Socket } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { GET, onClosed, respond, serveEachTest } from '../../../test/http1-world.ts';
import type { Http1Exchange } from './exchange.ts';

const world = serveEachTest();
const CHARGE = 'POST /charge HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
/** More than the buffers of both sides hold. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

interface Pipelined {
  readonly exchange: Http1Exchange;
  /** How it ended; undefined before that. */
  end: string | undefined;
}

/** Sends a GET with a pipelined POST behind it, and returns every request that is dispatched. */
async function pipeline(onExchange: (exchange: Http1Exchange) => void = () => undefined) {
  const pipelined: Pipelined[] = [];
  world.onExchange = (exchange) => {
    const one: Pipelined = { exchange, end: undefined };
    onClosed(exchange, (end) => (one.end = end));
    pipelined.push(one);
    onExchange(exchange);
  };
  const connection = await world.open();
  connection.send(GET + CHARGE);
  await eventually(() => expect(pipelined).not.toHaveLength(0));
  const first = () => pipelined[0]?.exchange;
  const expectUnsent = async () => {
    await eventually(() => expect(pipelined[0]?.end).toBeDefined());
    await eventually(() => expect(first()?.connection.socket.closed).toBe(true));
    expect(pipelined.map(({ exchange, end }) => [exchange.head.url, end])).toEqual([
      ['/', 'peer_left'],
    ]);
  };
  return { connection, first, expectUnsent };
}

describe('a response that was not sent does not finish, and no pipelined request follows it', () => {
  it('if the caller resets the connection while the end of the response waits', async () => {
    const { connection, expectUnsent } = await pipeline((exchange) => respond(exchange, LARGE));
    connection.socket.pause();
    connection.socket.resetAndDestroy();
    await expectUnsent();
  });

  it('if the server cuts the connection while the end of the response waits', async () => {
    const { connection, first, expectUnsent } = await pipeline((exchange) =>
      respond(exchange, LARGE),
    );
    connection.socket.pause();
    first()?.connection.socket.destroy();
    await expectUnsent();
  });

  it.each(['', 'ok'])('if the socket was destroyed before it ended, with %j', async (text) => {
    const { expectUnsent } = await pipeline((exchange) => {
      exchange.connection.socket.destroy();
      respond(exchange, text);
    });
    await expectUnsent();
  });

  it('if the write fails at once, because the caller has reset the connection', async () => {
    const { connection, first, expectUnsent } = await pipeline();
    connection.socket.resetAndDestroy();
    const exchange = first();
    if (exchange !== undefined) respond(exchange, 'ok');
    await expectUnsent();
  });
});

describe('a destroyed connection', () => {
  it('dispatches no request that waits for its turn of the event loop', async () => {
    let dispatched = 0;
    let socket: Socket | undefined;
    world.onExchange = (exchange) => {
      dispatched += 1;
      ({ socket } = exchange.connection);
      respond(exchange, 'ok');
      if (dispatched === 16) socket.destroy();
    };
    const connection = await world.open();
    connection.send(GET.repeat(16) + CHARGE);
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(dispatched).toBe(16);
  });

  it('dispatches no request after the one whose handler destroys it', async () => {
    const urls: string[] = [];
    let socket: Socket | undefined;
    world.onExchange = (exchange) => {
      urls.push(exchange.head.url);
      ({ socket } = exchange.connection);
      respond(exchange, 'ok');
      socket.destroy();
    };
    const connection = await world.open();
    connection.send(GET + CHARGE);
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(urls).toEqual(['/']);
  });
});
