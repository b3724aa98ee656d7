import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { http2Answer } from '../../test/http2-call.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const PIECE = 'x'.repeat(20_000);
const PIECES = 30;
const LENGTH = `Content-Length: ${PIECE.length * PIECES}`;
const ROUTE = { max_body_bytes: 50_000 };

describe('a caller that sends the whole of a body that is refused', () => {
  it.each([
    [
      'is not reset if it asked for 100 Continue and did not wait',
      413,
      '1.1',
      [LENGTH, 'Expect: 100-continue'],
    ],
    ['is not reset if it speaks HTTP/1.0', 413, '1.0', [LENGTH]],
    ['is not reset if it ends the connection', 413, '1.1', [LENGTH, 'Connection: close']],
    ['is not reset if its connection stays', 413, '1.1', [LENGTH]],
    [
      'is not reset if its header fields are too large',
      431,
      '1.1',
      [LENGTH, `X: ${'a'.repeat(40_000)}`],
    ],
  ] as const)('%s', async (_case, status, httpVersion, lines) => {
    const upstream = opened(await startUpstream());
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], ...ROUTE }));
    const connection = opened(await rawConnection(gateway.port, true));
    const errors: Error[] = [];
    connection.socket.on('error', (error) => void errors.push(error));
    const all = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...lines];
    connection.send(requestText({ method: 'POST', httpVersion, lines: all, body: PIECE }));
    const code = status === 431 ? 'header_fields_too_large' : 'payload_too_large';
    await expectRefusal(await connection.response(), status, code);
    for (let sent = 1; sent < PIECES; sent += 1) {
      connection.send(PIECE);
      // The gateway reads it, in the same process.
      await setImmediate();
    }
    connection.socket.end();
    await eventually(() => expect(connection.socket.destroyed).toBe(true));
    expect(errors).toEqual([]);
    expect(upstream.seen).toEqual([]);
    expect(await gateway.registry.metrics()).toContain(
      'gateway_connections_ended_total{reason="UNREAD_BODY"} 0\n',
    );
  });

  it.each([{ 'content-length': String(PIECE.length * PIECES) }, {}])(
    'gets the response over HTTP/2, and its connection continues: %j',
    async (length) => {
      const upstream = opened(await startUpstream());
      const gateway = opened(await startSecureDataPath({ upstreams: [upstream.url], ...ROUTE }));
      const session = gateway.connectHttp2();
      const fields = { ':path': '/v1/proxy/test', authorization: `Bearer ${gateway.token}` };
      const stream = session.request({ ...fields, ...length, ':method': 'POST' });
      const answer = http2Answer(stream);
      stream.write(PIECE.repeat(PIECES));
      expect(await answer).toMatchObject({ status: 413, code: 0, complete: true });
      expect((await answer).body).toContain('"code":"payload_too_large"');
      const next = session.request(fields, { endStream: true });
      expect((await http2Answer(next)).status).toBe(200);
      session.destroy();
      expect(upstream.seen).toHaveLength(1);
    },
  );

  it('takes no HTTP/2 window of the connection from the bodies of other streams', async () => {
    const upstream = opened(await startUpstream((seen, response) => void response.end(seen.body)));
    const gateway = opened(await startSecureDataPath({ upstreams: [upstream.url], ...ROUTE }));
    const session = gateway.connectHttp2();
    const path = { ':path': '/v1/proxy/test', ':method': 'POST' };
    const fields = { ...path, authorization: `Bearer ${gateway.token}` };
    const sibling = session.request(fields);
    const answer = http2Answer(sibling);
    sibling.write(PIECE);
    // Each sends at least the initial window of the connection, 64 KiB.
    for (let refused = 0; refused < 5; refused += 1) {
      const stream = session.request(fields);
      const refusal = http2Answer(stream);
      stream.write(PIECE.repeat(PIECES));
      expect(await refusal).toMatchObject({ status: 413, complete: true });
    }
    sibling.end(PIECE);
    expect(await answer).toMatchObject({ status: 200, body: PIECE.repeat(2), complete: true });
    session.destroy();
    expect(upstream.seen).toHaveLength(1);
  });
});
