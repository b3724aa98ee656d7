import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { GET, POST, respond, serveEachTest } from '../../test/http1-world.ts';
import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';

const world = serveEachTest();
const BUG = new Error('a bug');

function fails(): never {
  throw BUG;
}

type OnRequest = (request: ServerRequest, response: ServerResponse) => void;

const withBody = `${POST}4\r\n\r\n`;
const LARGE = 'x'.repeat(32 * 1024 * 1024);

describe('an internal error ends its connection, is reported once, and leaves others alone', () => {
  it.each<[string, string, OnRequest]>([
    ['in the handler of a request', GET, fails],
    [
      'when a part of the body arrives',
      withBody,
      (request) => request.on('data', fails).on('close', fails),
    ],
    [
      'when a body that has waited is read',
      `${withBody}body`,
      (request) => request.pause().on('data', fails).resume(),
    ],
    [
      'when the request ends',
      withBody,
      (request) => request.on('data', () => undefined).on('end', fails),
    ],
    [
      'when a response closes',
      GET,
      (request, response) => {
        response.once('close', fails);
        request.socket.destroy();
      },
    ],
    [
      'when the caller takes more of a response',
      GET,
      (_request, response) => {
        response.once('drain', fails);
        response.writeHead(200, []);
        response.write(LARGE, 'latin1');
      },
    ],
    [
      'when the end of a response was sent later',
      GET,
      (_request, response) => {
        response.once('close', fails);
        respond(response, LARGE);
      },
    ],
    [
      'when the connection fails',
      GET,
      (request, response) => {
        response.on('error', fails);
        request.socket.destroy(new Error('reset'));
      },
    ],
  ])('%s', async (_where, start, onRequest) => {
    let socket: ServerRequest['socket'] | undefined;
    world.onRequest = (request, response) => {
      socket = request.socket;
      onRequest(request, response);
    };
    const connection = await world.open();
    connection.socket.removeAllListeners('data').resume();
    connection.send(start);
    await eventually(() => expect(socket).toBeDefined());
    connection.send('body');
    await eventually(() => expect(world.internalErrors).toEqual([BUG]));
    await eventually(() => expect(socket?.closed).toBe(true));
    expect(world.internalErrors).toEqual([BUG]);

    world.onRequest = (_request, response) => respond(response, 'ok');
    const other = await world.open();
    other.send(GET);
    expect(await (await other.response()).text()).toBe('ok');
  });

  it('when a request ends early does not keep its response from its end', async () => {
    let closed = 0;
    world.onRequest = (request, response) => {
      request.on('close', fails);
      response.once('close', () => void (closed += 1));
      request.socket.destroy();
    };
    const connection = await world.open();
    connection.send(withBody);
    await eventually(() => expect(world.internalErrors).toEqual([BUG]));
    expect(closed).toBe(1);
  });

  it('in a pipelined request is not that of the request before it', async () => {
    let thrown: unknown;
    world.onRequest = (_request, response) => {
      world.onRequest = fails;
      setImmediate(() => {
        try {
          respond(response, 'ok');
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
