import { lookup } from 'node:dns';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import type { BodySource, ClientRequest } from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { connect } from '../../sockets/connect.ts';
import { Http1ClientConnection } from './connection.ts';

const opened = closeAfterEach();
const GET = { method: 'GET', path: '/', fields: [], body: null, contentLength: undefined };
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** What a server got, and what its response was. */
interface Outcome {
  sent: string;
  body: string;
  trailers: HeaderFields | undefined;
  failure: string | undefined;
}

/** Carries a request to a server that answers when it has got the given end of it. */
async function exchange(request: ClientRequest, end: string, answer: string): Promise<Outcome> {
  const outcome: Outcome = { sent: '', body: '', trailers: undefined, failure: undefined };
  const upstream = opened(
    await startRawUpstream((socket) => {
      socket.on('data', (bytes) => {
        outcome.sent += bytes.toString('latin1');
        if (outcome.sent.endsWith(end)) socket.write(answer);
      });
    }),
  );
  const over = Promise.withResolvers<undefined>();
  const owner = {
    host: 'a.test',
    freed: () => undefined,
    closed: () => undefined,
    internalError: over.reject,
  };
  const handler = {
    head: () => undefined,
    data(bytes: Buffer | string, last: boolean, trailers?: HeaderFields) {
      outcome.body += bytes.toString('latin1');
      outcome.trailers = trailers;
      if (last) over.resolve(undefined);
    },
    delivered: () => undefined,
    failed(why: string) {
      outcome.failure = why;
      over.resolve(undefined);
    },
  };
  const origin = new URL(upstream.url);
  connect({ origin, timeoutMs: 5000, lookup, clock: systemClock }, (...[connected]) => {
    if (connected === undefined) return;
    const connection = new Http1ClientConnection(connected, owner);
    opened({
      close() {
        connection.destroy();
      },
    });
    connection.carry(request, handler);
  });
  await over.promise;
  return outcome;
}

/** A body that has arrived, with its trailers. */
function bodyOf(text: string, trailers?: HeaderFields): BodySource {
  return {
    ended: 'complete',
    start(sink) {
      sink.data(text.slice(0, 2), false);
      sink.data(text.slice(2), true, trailers);
    },
    pause: () => undefined,
    resume: () => undefined,
    discard: () => undefined,
  };
}

describe('the trailers of a response', () => {
  it('come with the end of its body', async () => {
    const coded = '5\r\nhello\r\n0\r\nX-Sum: 7\r\ngrpc-status: 0\r\n\r\n';
    const outcome = await exchange(GET, '\r\n\r\n', CHUNKED + coded);
    expect(outcome).toMatchObject({ body: 'hello', trailers: ['X-Sum', '7', 'grpc-status', '0'] });
  });

  it.each([
    ['are malformed', 'X Sum: 7\r\n\r\n'],
    ['are larger than a head may be', `X-Sum: ${'7'.repeat(70_000)}\r\n\r\n`],
    ['are more than the lines of a head', `${'X: 7\r\n'.repeat(1001)}\r\n`],
  ])('make it invalid if they %s', async (_what, lines) => {
    const { failure } = await exchange(GET, '\r\n\r\n', `${CHUNKED}1\r\na\r\n0\r\n${lines}`);
    expect(failure).toBe('invalid_response');
  });

  it('are asked for if the caller takes them', async () => {
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1';
    const asked = await exchange({ ...GET, takesTrailers: true }, '\r\n\r\n', ok);
    expect(asked.sent).toBe(
      'GET / HTTP/1.1\r\nhost: a.test\r\nconnection: TE\r\nte: trailers\r\n\r\n',
    );
    const others = await exchange(GET, '\r\n\r\n', ok);
    expect(others.sent).toBe('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n');
  });
});

describe('the trailers of a request', () => {
  const post = { ...GET, method: 'POST' };
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1';

  it('are sent after its last chunk', async () => {
    const body = bodyOf('hello', ['X-Sum', '7']);
    const { sent } = await exchange({ ...post, body }, '\r\n0\r\nX-Sum: 7\r\n\r\n', ok);
    expect(sent.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(
      '2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Sum: 7\r\n\r\n',
    );
  });

  it('are not sent after a body of an announced length', async () => {
    const body = bodyOf('hello', ['X-Sum', '7']);
    const { sent } = await exchange({ ...post, body, contentLength: 5 }, 'hello', ok);
    expect(sent).toBe('POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello');
  });
});
