import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText, type RawConnection } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(route: Partial<SnapshotRoute> = {}, environment: Record<string, string> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream.url], ...route }, { environment }),
  );
  const connection = opened(await rawConnection(gateway.port));
  const send = (lines: readonly string[], body = '', token: string | undefined = gateway.token) => {
    const all = ['Host: gateway.test', ...lines];
    if (token !== '') all.push(`Authorization: Bearer ${token}`);
    connection.send(requestText({ method: 'POST', lines: all, body }));
  };
  return { upstream, gateway, connection, send };
}

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const END = '0\r\n\r\n';

describe('max_body_bytes', () => {
  it.each([
    ['of announced length', ['Content-Length: 1000'], 'x'.repeat(1000)],
    ['in chunks', ['Transfer-Encoding: chunked'], chunk(600) + chunk(400) + END],
  ])('accepts a body of exactly that size: %s', async (_case, lines, body) => {
    const { upstream, connection, send, gateway } = await setUp({ max_body_bytes: 1000 });
    send(lines, body);
    const response = await connection.response();
    expect(response.status).toBe(200);
    expect(upstream.seen).toMatchObject([{ body: 'x'.repeat(1000) }]);
    expect(await gateway.recordOf(response)).toMatchObject({ request_bytes: 1000 });
  });

  it.each([
    ['refuses the announcement before any of the body came', ['Content-Length: 1001'], '', 'POST'],
    [
      'refuses an announcement that no machine could hold',
      ['Content-Length: 999999999999999'],
      '',
      'POST',
    ],
    [
      'refuses chunks once they are too many',
      ['Transfer-Encoding: chunked'],
      chunk(600) + chunk(401),
      'POST',
    ],
    [
      'refuses one chunk that is too large',
      ['Transfer-Encoding: chunked'],
      chunk(5000) + END,
      'POST',
    ],
  ])('%s, and the upstream gets no complete request', async (_case, lines, body) => {
    const { upstream, connection, send, gateway } = await setUp({ max_body_bytes: 1000 });
    send(lines, body);
    const response = await connection.response();
    const error = await expectRefusal(response, 413, 'payload_too_large');
    expect(error.message).toContain('1000');
    expect(await gateway.recordOf(response)).toMatchObject({
      outcome: 'rejected',
      error_code: 'payload_too_large',
    });
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('applies also to a body that is kept for a retry', async () => {
    const retry = {
      on_statuses: [],
      per_attempt_timeout_ms: null,
      backoff_ms: 1,
      unsafe_methods: 'always' as const,
    };
    const { upstream, connection, send } = await setUp({ max_body_bytes: 1000, retry });
    send(['Transfer-Encoding: chunked'], chunk(1001) + END);
    await expectRefusal(await connection.response(), 413, 'payload_too_large');
    send(['Content-Length: 2'], 'ok');
    expect((await connection.response()).status).toBe(200);
    expect(upstream.seen).toMatchObject([{ body: 'ok' }]);
  });

  it('of 0 accepts only requests without a body', async () => {
    const { connection, send } = await setUp({ max_body_bytes: 0 });
    send(['Content-Length: 0']);
    expect((await connection.response()).status).toBe(200);
    send(['Content-Length: 1'], 'x');
    await expectRefusal(await connection.response(), 413, 'payload_too_large');
  });
});

describe('a body that stalls', () => {
  it.each([
    ['of announced length', ['Content-Length: 200000'], 'x'],
    ['in chunks', ['Transfer-Encoding: chunked'], chunk(10)],
  ])('times out, and the upstream gets no complete request: %s', async (_case, lines, body) => {
    const { upstream, connection, send } = await setUp({}, { BODY_IDLE_TIMEOUT_MS: '100' });
    send(lines, body);
    await expectTimeout(connection);
    expect(upstream.seen).toHaveLength(0);
  });

  it('times out after max_upload_ms if it is buffered', async () => {
    const { upstream, connection, send, gateway } = await setUp({ max_upload_ms: 1000 });
    send(['Content-Length: 10'], 'x');
    const response = await expectTimeout(connection);
    expect(upstream.seen).toHaveLength(0);
    const { timing } = await gateway.recordOf(response);
    // The wait was for the caller, so it is not the gateway's.
    expect(timing.total_ms).toBeGreaterThanOrEqual(990);
    expect(timing.gateway_ms).toBeLessThan(600);
  });

  it('times out after max_upload_ms if it streams, whatever timeout_ms is', async () => {
    const route = { timeout_ms: 50, max_upload_ms: 150 };
    const { upstream, connection, send, gateway } = await setUp(route);
    send(['Transfer-Encoding: chunked'], chunk(10));
    const response = await expectTimeout(connection);
    expect(upstream.seen).toHaveLength(0);
    expect(await gateway.recordOf(response)).toMatchObject({ status: 408, outcome: 'rejected' });
  });

  it('is the fault of the upstream if it streams and the upstream reads none of it', async () => {
    const sockets: Socket[] = [];
    const deaf = opened(await startRawUpstream((socket) => void sockets.push(socket.pause())));
    const gateway = opened(await startTestDataPath({ upstreams: [deaf.url], timeout_ms: 1000 }));
    const connection = opened(await rawConnection(gateway.port));
    const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    lines.push('Content-Length: 10000000');
    // More than the kernel keeps, and not all of the body.
    connection.send(requestText({ method: 'POST', lines, body: 'x'.repeat(9_000_000) }));
    await expectRefusal(await connection.response(), 504, 'upstream_timeout');
  });
});

/** The connection closes, so that the rest of the body is not taken for a request (RFC 9110 section 15.5.9). */
async function expectTimeout(connection: RawConnection): Promise<RawResponse> {
  const response = await connection.response();
  await expectRefusal(response, 408, 'request_timeout');
  expect(response.headers.get('connection')).toBe('close');
  await eventually(() => expect(connection.ended).toBe(true));
  return response;
}

describe('Expect: 100-continue', () => {
  const EXPECT = 'Expect: 100-continue';

  it.each([
    ['of announced length', ['Content-Length: 5', EXPECT], 'hello'],
    ['in chunks', ['Transfer-Encoding: chunked', EXPECT], `5\r\nhello\r\n${END}`],
  ])('is answered after the request was accepted: %s', async (_case, lines, body) => {
    const { upstream, connection, send } = await setUp();
    for (let again = 0; again < 2; again += 1) {
      send(lines);
      expect((await connection.response()).status).toBe(100);
      connection.send(body);
      expect((await connection.response()).status).toBe(200);
    }
    expect(upstream.seen).toMatchObject([{ body: 'hello' }, { body: 'hello' }]);
    expect(upstream.seen[0]?.headers).not.toHaveProperty('expect');
  });

  it.each([
    ['has no token', 401, 'authentication_failed', ['Content-Length: 5', EXPECT], {}, ''],
    [
      'sends too much',
      413,
      'payload_too_large',
      ['Content-Length: 5', EXPECT],
      { max_body_bytes: 4 },
      undefined,
    ],
    [
      'uses a method that the route does not take',
      405,
      'method_not_allowed',
      ['Content-Length: 5', EXPECT],
      { methods: ['GET'] },
      undefined,
    ],
  ] as const)(
    'is not answered with 100 if the caller %s, and the connection ends',
    async (_case, status, code, lines, route, token) => {
      const { connection, send } = await setUp({
        ...route,
        methods: 'methods' in route ? [...route.methods] : null,
      });
      send(lines, '', token);
      const response = await connection.response();
      await expectRefusal(response, status, code);
      expect(response.headers.get('connection')).toBe('close');
      await eventually(() => expect(connection.ended).toBe(true));
    },
  );

  it('is ignored in HTTP/1.0, which has no interim responses (RFC 9110 section 10.1.1)', async () => {
    const { gateway, connection } = await setUp();
    const lines = ['Content-Length: 5', EXPECT, `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ method: 'POST', httpVersion: '1.0', lines, body: 'hello' }));
    expect((await connection.response()).status).toBe(200);
  });
});
