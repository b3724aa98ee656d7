import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { beginStream, openStream } from '../../test/begun-stream.ts';
import { PAIRS, startStreamServer, streamWorld } from '../../test/stream-world.ts';

const opened = closeAfterEach();

describe.each(PAIRS)(
  'a stream whose caller is over %s and its upstream over %s',
  (protocol, upstream) => {
    it('is cancelled at the upstream if its caller cancels it, and recorded so', async () => {
      const { caller, stream, record } = await beginStream(opened, [protocol, upstream]);
      caller.cancel();
      await eventually(() => expect(stream.isGone).toBe(true));
      expect(await record()).toMatchObject({ outcome: 'client_aborted', status: 200 });
    });

    it('is cut at its caller if the upstream resets it, and recorded so', async () => {
      const { caller, stream, record } = await beginStream(opened, [protocol, upstream]);
      stream.reset();
      await eventually(() => expect(caller.end).toBe('cut'));
      expect(await record()).toMatchObject({ outcome: 'upstream_error', status: 200 });
    });

    it('gives its caller the whole answer of an upstream that ends before the request does', async () => {
      const { caller, stream, record } = await beginStream(opened, [protocol, upstream]);
      stream.response.end(' and end');
      await eventually(() => expect(caller.end).toBe('ended'));
      expect(caller.text).toBe('answer and end');
      expect(await record()).toMatchObject({ outcome: 'success', request_bytes: 3 });
    });

    it('ends if nothing flows in either direction, and no one else is blamed', async () => {
      const { caller, stream, record, pass } = await beginStream(opened, [protocol, upstream], {
        body_idle_timeout_ms: 5000,
        max_upload_ms: 1000,
        min_upload_bytes_per_second: 1_000_000,
      });
      await pass(4999);
      expect(caller.end).toBe('open');
      await pass(2);
      await eventually(() => expect(caller.end).toBe('cut'));
      await eventually(() => expect(stream.end).toBe('cut'));
      expect(await record()).toMatchObject({ outcome: 'rejected', error_code: 'response_timeout' });
    });

    it('ends by the fault of an upstream that is silent after the whole request', async () => {
      const { caller, stream, record, pass } = await beginStream(opened, [protocol, upstream], {
        body_idle_timeout_ms: 5000,
      });
      caller.finish();
      await eventually(() => expect(stream.end).toBe('ended'));
      await pass(5001);
      await eventually(() => expect(caller.end).toBe('cut'));
      expect(await record()).toMatchObject({ outcome: 'upstream_error', error_code: null });
    });
  },
);

describe.each(PAIRS)(
  'a stream of a data plane that stops, its caller over %s and its upstream over %s',
  (protocol, upstream) => {
    it('goes on until the end of the drain, and is cut then', async () => {
      const { caller, stream, gateway, record, time } = await beginStream(opened, [
        protocol,
        upstream,
      ]);
      void gateway.stop();
      caller.send(' more');
      await eventually(() => expect(stream.text).toBe('ask more'));
      stream.response.write(' more');
      await eventually(() => expect(caller.text).toBe('answer more'));
      await eventually(() => {
        time.advance(500);
        expect(caller.end).toBe('cut');
      });
      expect(await record()).toMatchObject({ outcome: 'rejected', error_code: 'gateway_stopping' });
    });
  },
);

describe.each(PAIRS)(
  'a stream without a response, its caller over %s and its upstream over %s',
  (protocol, upstream) => {
    it.each([
      ['its caller has not ended its request', false, 'stream_idle'],
      ['its caller has ended its request', true, 'attempt_timeout'],
    ])('gets 504 after the idle time: %s', async (_when, isFinished, error) => {
      const route = { body_idle_timeout_ms: 5000, timeout_ms: 1000 };
      const { caller, server, record, pass } = await openStream(
        opened,
        [protocol, upstream],
        route,
      );
      caller.send('ask');
      if (isFinished) caller.finish();
      const stream = await server.next();
      await eventually(() => expect(stream.text).toBe('ask'));
      if (isFinished) await eventually(() => expect(stream.end).toBe('ended'));
      await pass(5001);
      await eventually(() => expect(caller.end).toBe('ended'));
      expect(caller.headers).toMatchObject({ 'x-gateway-error': 'upstream_timeout' });
      expect(caller.status).toBe(504);
      const { attempts, outcome } = await record();
      expect(attempts).toMatchObject([{ error, retry: { retried: false } }]);
      expect(outcome).toBe('timeout');
    });
  },
);

describe('an HTTP/1.1 connection whose response ended before its request', () => {
  it('serves its next request once the rest of the first one has arrived', async () => {
    const server = opened(await startStreamServer('http1'));
    const { gateway } = await streamWorld(opened, server);
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      'Host: gateway.test',
      `Authorization: Bearer ${gateway.token}`,
      'Transfer-Encoding: chunked',
    ];
    connection.send(requestText({ method: 'POST', lines }));
    (await server.next()).response.end('early');
    expect((await connection.response()).body.toString()).toBe('early');
    connection.send('3\r\nabc\r\n0\r\n\r\n');
    connection.send(requestText({ method: 'POST', lines }) + '0\r\n\r\n');
    (await server.next(2)).response.end('second');
    expect((await connection.response()).body.toString()).toBe('second');
  });

  it('is closed if the rest does not arrive in bounded time', async () => {
    const server = opened(await startStreamServer('http1'));
    const { gateway, time } = await streamWorld(opened, server);
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      'Host: gateway.test',
      `Authorization: Bearer ${gateway.token}`,
      'Transfer-Encoding: chunked',
    ];
    connection.send(requestText({ method: 'POST', lines }));
    (await server.next()).response.end('early');
    expect((await connection.response()).body.toString()).toBe('early');
    await eventually(() => {
      time.advance(1000);
      expect(connection.ended).toBe(true);
    });
  });
});

describe.each(['http1', 'http2'] as const)(
  'the deadline of a gRPC caller, upstream over %s',
  (upstream) => {
    const headers = { 'content-type': 'application/grpc', 'grpc-timeout': '60S' };
    const open = (route: Partial<SnapshotRoute>) =>
      openStream(opened, ['http2', upstream], route, { headers });
    /** An empty one. */
    const MESSAGE = '\0'.repeat(5);

    it.each([
      ['a route of streams, although it carries messages', true],
      ['another route, after the head of the response', false],
    ])('ends the whole call on %s', async (_which, streaming) => {
      const { caller, server, record, pass } = await open({ streaming });
      caller.send(MESSAGE);
      const stream = await server.next();
      for (let text = 'a'; text.length < 6; text += 'a') {
        stream.response.write('a');
        await eventually(() => expect(caller.text).toBe(text));
        caller.send(MESSAGE);
        await eventually(() => expect(stream.text).toBe(MESSAGE.repeat(text.length + 1)));
        await pass(11_999);
      }
      expect(caller.end).toBe('open');
      await pass(10);
      await eventually(() => expect(caller.end).toBe('cut'));
      await eventually(() => expect(stream.end).toBe('cut'));
      expect(await record()).toMatchObject({ outcome: 'timeout', error_code: 'upstream_timeout' });
    });

    it('is 504 with DEADLINE_EXCEEDED if the response has not begun, and no fault of the upstream', async () => {
      const route = { timeout_ms: 1000, body_idle_timeout_ms: 100_000 };
      const { caller, server, record, pass } = await open(route);
      caller.send(MESSAGE);
      const stream = await server.next();
      await eventually(() => expect(stream.text).toBe(MESSAGE));
      await pass(59_999);
      expect(caller.end).toBe('open');
      await pass(1);
      await eventually(() => expect(caller.end).toBe('ended'));
      expect(caller.status).toBe(504);
      expect(caller.headers).toMatchObject({
        'x-gateway-error': 'upstream_timeout',
        'grpc-status': '4',
      });
      const { attempts } = await record();
      expect(attempts).toMatchObject([{ error: 'cancelled', retry: { retried: false } }]);
      await eventually(() => expect(stream.isGone).toBe(true));
    });
  },
);
