import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import type { Socket } from 'node:net';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall, rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(onRequest: (socket: Socket, request: string) => void, retryCount = 0) {
  let arrivals = 0;
  let connections = 0;
  const upstream = opened(
    await startRawUpstream((socket) => {
      connections += 1;
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (!text.includes('\r\n\r\n')) return;
        arrivals += 1;
        const request = text;
        text = '';
        onRequest(socket, request);
      });
    }),
  );
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url], retry_count: retryCount },
      { environment: { BODY_IDLE_TIMEOUT_MS: '150' } },
    ),
  );
  const call = (method = 'GET') => rawCall(gateway.port, { method }, gateway.token);
  return {
    gateway,
    call,
    counts: () => ({ arrivals, connections }),
  };
}

describe('unusual responses', () => {
  it.each([
    [
      'interim ones before',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n',
    ],
    ['one byte at a time', ''],
  ])('arrive completely: %s', async (name, before) => {
    const { call } = await setUp((socket) => {
      const text = `${before}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`;
      if (name.startsWith('interim')) socket.write(text);
      else for (const byte of text) socket.write(byte);
    });
    const response = await call();
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(await response.text()).toBe('hello');
    expect(response.headers.has('link')).toBe(false);
  });

  it('end with the connection if they have no length', async () => {
    const { call, gateway } = await setUp((socket) => {
      socket.write('HTTP/1.0 200 OK\r\n\r\nfirst,');
      setImmediate(() => socket.end('last'));
    });
    const response = await call();
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(await response.text()).toBe('first,last');
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'success',
      response_bytes: 10,
    });
  });

  it('with trailers and chunk extensions keep their body', async () => {
    const { call } = await setUp((socket) => {
      const body = '5;ext="v"\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n';
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    });
    const response = await call();
    expect(response.complete).toBe(true);
    expect(await response.text()).toBe('hello');
  });

  it.each<[name: string, text: string, error?: string]>([
    ['noise', '\x00\x01\x02\x03\r\n\r\n'],
    ['another protocol', '220 mail.test ESMTP\r\n'],
    ['HTTP/2 in the clear', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a name with a space', 'HTTP/1.1 200 OK\r\nX Y: 1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    [
      'an unrequested switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n',
    ],
    [
      'a header section without end',
      `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`,
      'response_head_too_large',
    ],
  ])('cause 502 if they are invalid: %s', async (_case, text, error = 'invalid_response') => {
    const { call, gateway } = await setUp((socket) => void socket.write(text, 'latin1'));
    const response = await call();
    await expectRefusal(response, 502, 'upstream_unavailable');
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'upstream_unavailable',
      attempts: [{ upstream: 'ups_0', error }],
    });
  });

  it.each([
    [
      'a body shorter than its length',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello',
      'end',
    ],
    [
      'a reset within a body of known length',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello',
      'reset',
    ],
    [
      'a chunked body without its end',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      'end',
    ],
    [
      'a reset within a chunked body',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
      'reset',
    ],
    ['a reset within a body of unknown length', 'HTTP/1.1 200 OK\r\n\r\nhello', 'reset'],
    [
      'garbage within chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n',
      'stay',
    ],
    ['silence within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello', 'stay'],
    ['silence after the head', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', 'stay'],
  ])('never look complete if they ended early: %s', async (_case, text, then) => {
    const { gateway, counts } = await setUp((socket) => {
      socket.write(text, () => {
        if (then === 'end') socket.end();
        if (then === 'reset') socket.resetAndDestroy();
      });
    }, 3);
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ lines }));
    await eventually(() => expect(connection.ended).toBe(true));
    // Ended before the head was sent, or within the body: never with a regular end.
    if (connection.receivedText !== '') {
      const response = await connection.response();
      expect(response).toMatchObject({ status: 200, complete: false });
      expect('hello').toContain(await response.text());
    }
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(gateway.records[0]).toMatchObject({
      status: 200,
      outcome: 'upstream_error',
      retry_count: 0,
      attempts: [{ status: 200 }],
    });
    expect(counts().arrivals).toBe(1);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
  });

  it('of a connection that closes afterwards do not affect the next request, not even a POST', async () => {
    const closed: Promise<unknown>[] = [];
    const { call, counts } = await setUp((socket) => {
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    for (let request = 0; request < 10; request += 1) {
      const response = await call('POST');
      expect(response.status).toBe(200);
      // Both ends have closed the connection.
      await Promise.all(closed);
    }
    expect(counts()).toEqual({ arrivals: 10, connections: 10 });
  });

  it('that keep the connection open reuse it', async () => {
    const { call, counts } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    for (let request = 0; request < 10; request += 1) expect((await call()).status).toBe(200);
    expect(counts()).toEqual({ arrivals: 10, connections: 1 });
  });

  it.each([
    [
      'several chunks in one read',
      'Transfer-Encoding: chunked',
      '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n',
      3,
    ],
    ['more than the caller takes at once', 'Content-Length: 60000', 'x'.repeat(60_000), 60_000],
    ['more than one read', 'Content-Length: 300000', 'x'.repeat(300_000), 300_000],
  ])('leave their connection usable for the next one: %s', async (_case, framing, body, bytes) => {
    const { call, counts } = await setUp((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${body}`);
    });
    for (let request = 0; request < 20; request += 1) {
      const response = await call();
      expect({ request, status: response.status, bytes: response.body.length }).toEqual({
        request,
        status: 200,
        bytes,
      });
    }
    expect(counts()).toEqual({ arrivals: 20, connections: 1 });
  });

  it('followed by extra bytes do not affect other requests', async () => {
    const { call, counts } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\npoison');
    });
    for (let request = 0; request < 5; request += 1) expect(await (await call()).text()).toBe('ok');
    expect(counts()).toEqual({ arrivals: 5, connections: 5 });
  });
});
