import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall, rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const START = 'GET /v1/proxy/test';
const LARGE = 'a'.repeat(3000);

async function setUp(environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }, { environment }));
  return { upstream, gateway };
}

describe('ambiguous requests', () => {
  // test/conformance has the other forms of a Host, of framing and of lengths.
  it('are refused because of their Host, which the error names, and have a record', async () => {
    const { upstream, gateway } = await setUp();
    const lines = ['Host: a.test/v1'];
    const response = await rawCall(gateway.port, { lines }, gateway.token);
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.details).toMatchObject([{ path: 'host' }]);
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({ status: 400, outcome: 'rejected' });
  });
});

describe('bytes that are not HTTP', () => {
  // test/conformance has the other forms.
  it.each([
    ['malformed_head', 400, 'invalid_request', '\x00\x01\x02\r\n\r\n'],
    ['header_overflow', 431, 'header_fields_too_large', `${START} HTTP/1.1\r\nX: ${LARGE}\r\n\r\n`],
    ['target_overflow', 414, 'uri_too_long', `${START}?${LARGE} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ] as const)('are counted, and have no record: %s', async (reason, status, code, text) => {
    const { gateway } = await setUp({ MAX_HEADER_BYTES: '2048' });
    const connection = opened(await rawConnection(gateway.port));
    connection.send(text);
    await expectRefusal(await connection.response(), status, code);
    await eventually(() => expect(connection.ended).toBe(true));
    expect(await gateway.registry.metrics()).toContain(
      `gateway_malformed_requests_total{reason="${reason}"} 1\n`,
    );
    expect(gateway.records).toEqual([]);
  });

  it('within a body never cause output within a started response', async () => {
    const upstream = opened(
      await startRawUpstream((socket) => {
        const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
        socket.once('data', () => socket.write(`${head}5\r\nbegun\r\n`));
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = [
      ...['Host: gateway.test', `Authorization: Bearer ${gateway.token}`],
      'Transfer-Encoding: chunked',
    ];
    connection.send(requestText({ method: 'POST', lines, body: '5\r\nhello\r\n' }));
    await eventually(() => expect(connection.receivedText).toContain('begun'));
    connection.send('zz\r\n');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(connection.receivedText).not.toContain('invalid_request');
    expect(await gateway.inFlight()).toBe(0);
  });

  it('after an unanswered request get no response before that request', async () => {
    const sockets: Socket[] = [];
    const upstream = opened(await startRawUpstream((socket) => void sockets.push(socket)));
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    lines.push('Content-Length: 2');
    connection.send(requestText({ method: 'POST', lines, body: 'ok' }));
    await eventually(() => expect(sockets.length).toBe(1));
    connection.send('noise\r\n\r\n');
    sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine');
    const response = await connection.response();
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('mine');
    await expectRefusal(await connection.response(), 400, 'invalid_request');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(gateway.records).toMatchObject([{ outcome: 'success' }]);
  });

  it.each([
    [129, 'headers must be at most 128 lines'],
    [160, 'headers must be at most 128 lines'],
    [256, 'headers must be at most 128 lines'],
    [257, 'the header fields are too large'],
    [5000, 'the header fields are too large'],
  ])(
    'include heads with too many lines, whatever the last lines are: %i lines',
    async (count, reason) => {
      const { gateway, upstream } = await setUp();
      const connection = opened(await rawConnection(gateway.port));
      const first = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
      const last = ['Connection: Upgrade', 'Upgrade: websocket', 'Transfer-Encoding: chunked'];
      const between = Array.from({ length: count - first.length - last.length }, () => 'a:');
      connection.send(requestText({ lines: [...first, ...between, ...last] }));
      const response = await connection.response();
      const error = await expectRefusal(response, 431, 'header_fields_too_large');
      expect(error.message).toContain(reason);
      await eventually(() => expect(connection.ended).toBe(true));
      expect(upstream.seen).toHaveLength(0);
    },
  );

  it('include a head that never ends, which times out', async () => {
    const { gateway } = await setUp({ HEADERS_TIMEOUT_MS: '200' });
    const connection = opened(await rawConnection(gateway.port));
    connection.send('GET /v1/proxy/test HTTP/1.1\r\nHost: a\r\n');
    const response = await connection.response();
    await expectRefusal(response, 408, 'request_timeout');
    await eventually(() => expect(connection.ended).toBe(true));
  });
});
