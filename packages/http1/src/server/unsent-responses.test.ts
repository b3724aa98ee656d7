import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { GET, respond, serveEachTest } from '../../test/http1-world.ts';
import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';

const world = serveEachTest();
const CHARGE = 'POST /charge HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
/** More than the buffers of both sides hold. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

interface Exchange {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  /** Whether the response counted as sent when it closed; undefined before that. */
  sent: boolean | undefined;
}

/** Sends a GET with a pipelined POST behind it, and returns every request that is dispatched. */
async function pipeline(onRequest: (exchange: Exchange) => void = () => undefined) {
  const exchanges: Exchange[] = [];
  world.onRequest = (request, response) => {
    const exchange: Exchange = { request, response, sent: undefined };
    response.once('close', () => (exchange.sent = response.writableFinished));
    exchanges.push(exchange);
    onRequest(exchange);
  };
  const connection = await world.open();
  connection.send(GET + CHARGE);
  await eventually(() => expect(exchanges).not.toHaveLength(0));
  const expectUnsent = async () => {
    await eventually(() => expect(exchanges[0]?.sent).toBeDefined());
    await eventually(() => expect(exchanges[0]?.request.socket.closed).toBe(true));
    expect(exchanges.map(({ request, sent }) => [request.url, sent])).toEqual([['/', false]]);
  };
  return { connection, exchanges, expectUnsent };
}

describe('a response that was not sent does not finish, and no pipelined request follows it', () => {
  it('if the caller resets the connection while the end of the response waits', async () => {
    const { connection, expectUnsent } = await pipeline(({ response }) => respond(response, LARGE));
    connection.socket.pause();
    connection.socket.resetAndDestroy();
    await expectUnsent();
  });

  it('if the server cuts the connection while the end of the response waits', async () => {
    const { connection, exchanges, expectUnsent } = await pipeline(({ response }) =>
      respond(response, LARGE),
    );
    connection.socket.pause();
    exchanges[0]?.request.socket.destroy();
    await expectUnsent();
  });

  it.each(['', 'ok'])('if the socket was destroyed before it ended, with %j', async (text) => {
    const { expectUnsent } = await pipeline(({ request, response }) => {
      request.socket.destroy();
      respond(response, text);
    });
    await expectUnsent();
  });

  it('if the write fails at once, because the caller has reset the connection', async () => {
    const { connection, exchanges, expectUnsent } = await pipeline();
    connection.socket.resetAndDestroy();
    const response = exchanges[0]?.response;
    if (response !== undefined) respond(response, 'ok');
    await expectUnsent();
  });
});

describe('a destroyed connection', () => {
  it('dispatches no request that waits for its turn of the event loop', async () => {
    let dispatched = 0;
    let socket: ServerRequest['socket'] | undefined;
    world.onRequest = (request, response) => {
      dispatched += 1;
      socket = request.socket;
      respond(response, 'ok');
      if (dispatched === 16) request.socket.destroy();
    };
    const connection = await world.open();
    connection.send(GET.repeat(16) + CHARGE);
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(dispatched).toBe(16);
  });

  it('dispatches no request after the one whose handler destroys it', async () => {
    const urls: string[] = [];
    let socket: ServerRequest['socket'] | undefined;
    world.onRequest = (request, response) => {
      urls.push(request.url);
      socket = request.socket;
      respond(response, 'ok');
      request.socket.destroy();
    };
    const connection = await world.open();
    connection.send(GET + CHARGE);
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(urls).toEqual(['/']);
  });
});
