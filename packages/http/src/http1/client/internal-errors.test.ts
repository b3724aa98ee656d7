import { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { connect } from '../../sockets/connect.ts';
import type { ClientHandler } from '../../exchange.ts';
import type { HintReceiver } from '../../message/response-head.ts';
import { Http1ClientConnection } from './connection.ts';

const opened = closeAfterEach();
const BUG = new Error('a bug');

function fails(): never {
  throw BUG;
}

/** Carries an exchange of which one method fails. */
async function exchange(
  answer: (socket: Socket) => void,
  failing: keyof (ClientHandler & HintReceiver),
) {
  const upstream = opened(
    await startRawUpstream((socket) => socket.on('data', () => answer(socket))),
  );
  const errors: unknown[] = [];
  const failures: string[] = [];
  let closed = 0;
  const owner = {
    host: 'a.test',
    freed: () => undefined,
    closed: () => void (closed += 1),
    internalError: (error: unknown) => void errors.push(error),
  };
  const request = { method: 'GET', path: '/', fields: [], body: null, contentLength: undefined };
  const handler = {
    head: () => undefined,
    data: () => undefined,
    delivered: () => undefined,
    failed: (reason: string) => void failures.push(reason),
    hints: () => undefined,
    [failing]: fails,
  };
  const options = {
    origin: new URL(upstream.url),
    timeoutMs: 5000,
    lookup,
    clock: systemClock,
  };
  connect(options, (...[connected]) => {
    if (connected === undefined) return;
    const connection = new Http1ClientConnection(connected, owner);
    connection.carry({ ...request, hints: handler }, handler);
  });
  await eventually(() => expect(closed).toBe(1));
  return { errors, failures };
}

describe('an internal error of the client ends its connection and its exchange, and is reported once', () => {
  it.each([
    ['hints', 'ok'],
    ['head', 'ok'],
    ['data', 'ok'],
    ['delivered', 'o'],
  ] as const)('in the %s of a response', async (failing, body) => {
    const { errors, failures } = await exchange(
      (socket) =>
        socket.write(
          `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n${body}`,
        ),
      failing,
    );
    expect(errors).toEqual([BUG]);
    // Also after its end has failed: otherwise nobody would end what waits for the response.
    expect(failures).toEqual(['internal_error']);
  });

  it.each<[string, (socket: Socket) => void]>([
    ['the connection is reset', (socket) => void socket.resetAndDestroy()],
    ['the connection ends', (socket) => void socket.end()],
    ['the response is malformed', (socket) => void socket.write('noise\r\n\r\n')],
  ])('when %s', async (_when, answer) => {
    const { errors } = await exchange(answer, 'failed');
    expect(errors).toEqual([BUG]);
  });
});
