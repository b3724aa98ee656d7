import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { describe, expect, it } from '@jest/globals';
import { corsField } from '@gateway/shared/definitions/route-cors';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText, type RawRequest } from '@gateway/shared/test/raw-client';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { keySettings } from '../../test/keyed-request.ts';

const opened = closeAfterEach();

const hint = (...lines: readonly string[]) =>
  ['HTTP/1.1 103 Early Hints', ...lines, '', ''].join('\r\n');
const LINK = 'Link: </a.css>; rel=preload';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const FAILED = 'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n';
const DROPPED = 'gateway_early_hints_dropped_total';
const EXPECTING = {
  ...{ method: 'POST', lines: ['Content-Length: 2', 'Expect: 100-continue'] },
  body: 'hi',
};
const KEY = Buffer.alloc(16).toString('base64');
const UPGRADE = {
  lines: ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Key: ${KEY}`].concat(
    'Sec-WebSocket-Version: 13',
  ),
};
const SWITCHING = 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** An upstream that answers each request with the next one of these texts, the last one again. */
async function setUp(
  answers: readonly string[],
  route: Partial<SnapshotRoute> = { early_hints: true },
) {
  let arrivals = 0;
  let answerMore: (text: string) => void = () => undefined;
  const upstream = opened(
    await startRawUpstream((socket) => {
      answerMore = (text) => void socket.write(text);
      socket.on('data', (bytes) => {
        if (!bytes.includes('\r\n\r\n')) return;
        answerMore(answers[Math.min(arrivals, answers.length - 1)] ?? '');
        arrivals += 1;
      });
    }),
  );
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url], retry_count: 0, ...route },
      { environment: { HTTP2_CLEARTEXT: 'on', CONTROL_PLANE_URL: upstream.url } },
    ),
  );
  return {
    gateway,
    upstream: { answerMore: (text: string) => answerMore(text), arrivals: () => arrivals },
  };
}

/** The statuses of all responses that a caller of raw bytes gets to one request, and the fields of the last one. */
async function statusesOf(gateway: TestDataPath, request: RawRequest = {}) {
  const connection = opened(await rawConnection(gateway.port));
  const lines = ['Host: a', `Authorization: Bearer ${gateway.token}`, ...(request.lines ?? [])];
  connection.send(requestText({ ...request, lines }));
  const statuses: number[] = [];
  for (;;) {
    const response = await connection.response();
    statuses.push(response.status);
    if (response.status === 101 || response.status >= 200) return { statuses, response };
  }
}

interface Asked {
  /** The fields of each 103. */
  readonly hints: Readonly<Record<string, unknown>>[];
  readonly status: Promise<number>;
}

const asks: readonly [string, (gateway: TestDataPath) => Asked][] = [
  [
    'node:http over HTTP/1.1',
    ({ url, token }) => {
      const hints: Asked['hints'] = [];
      const headers = { authorization: `Bearer ${token}` };
      const request = get(`${url}/v1/proxy/test`, { headers, agent: false });
      request.on('information', ({ statusCode, headers: fields }) => {
        if (statusCode === 103) hints.push(fields);
      });
      const status = once(request, 'response').then(([response]) => {
        return (response as IncomingMessage).resume().statusCode ?? 0;
      });
      return { hints, status };
    },
  ],
  [
    'node:http2',
    ({ url, token }) => {
      const hints: Asked['hints'] = [];
      const session = connect(url);
      opened({ close: () => session.destroy() });
      const authorization = `Bearer ${token}`;
      const stream = session.request({ ':path': '/v1/proxy/test', authorization });
      stream.on('headers', ({ ':status': code, ...fields }) => {
        if (code === 103) hints.push({ ...fields });
      });
      const status = once(stream, 'response').then(([fields]) => {
        return (fields as { ':status': number })[':status'];
      });
      return { hints, status };
    },
  ],
];

describe.each(asks)('early_hints, with a caller of %s', (_caller, ask) => {
  it('passes each 103 on when it arrives, with the fields that a response would have', async () => {
    const fields = ['Connection: X-Hop', 'X-Hop: 1', 'X-Gateway-Error: x', 'X-Request-Id: theirs'];
    const notIn103 = ['Content-Length: 7', 'Set-Cookie: a=1', 'Content-Type: text/html'];
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX-A: 1\r\n\r\n';
    const first = interim + hint(LINK, ...fields, ...notIn103);
    const { gateway, upstream } = await setUp([first]);
    const { hints, status } = ask(gateway);
    await eventually(() => expect(hints).toHaveLength(1));
    expect(gateway.records).toEqual([]);
    expect(Object.fromEntries(Object.entries(hints[0] ?? {}))).toEqual({
      link: '</a.css>; rel=preload',
      'x-upstream-request-id': 'theirs',
      'content-type': 'text/html',
    });
    upstream.answerMore(hint('Link: </b.js>') + OK);
    expect(await status).toBe(200);
    expect(hints.slice(1)).toMatchObject([{ link: '</b.js>' }]);
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records).toMatchObject([
      { outcome: 'success', upstream_request_id: null, attempts: [{ status: 200 }] },
    ]);
  });

  it('keeps the CORS fields of the upstream from pages of a route with cors', async () => {
    const cors = corsField.parse({ origins: ['https://app.example.com'] });
    const theirs = ['access-control-allow-origin: *', 'Access-Control-Allow-Credentials: true'];
    const { gateway, upstream } = await setUp([hint(LINK, ...theirs)], { early_hints: true, cors });
    const { hints, status } = ask(gateway);
    await eventually(() => expect(hints).toHaveLength(1));
    expect(Object.keys(hints[0] ?? {})).toEqual(['link']);
    upstream.answerMore(OK);
    expect(await status).toBe(200);
  });

  it('skips them by default', async () => {
    const { gateway } = await setUp([hint(LINK) + OK], {});
    const { hints, status } = ask(gateway);
    expect(await status).toBe(200);
    expect(hints).toEqual([]);
  });
});

describe('early_hints', () => {
  it.each<[name: string, request: RawRequest, statuses: number[]]>([
    ['after the 100 that the caller waits for', EXPECTING, [100, 103, 200]],
    ['not to HTTP/1.0', { httpVersion: '1.0' }, [200]],
    ['not for an upgrade', UPGRADE, [101]],
    ['not for a call to the control plane', { target: '/v1/services' }, [200]],
  ])('passes a 103 on: %s', async (name, request, statuses) => {
    const answer = name.includes('upgrade') ? SWITCHING : OK;
    const { gateway } = await setUp([hint(LINK) + answer]);
    expect((await statusesOf(gateway, request)).statuses).toEqual(statuses);
  });

  it.each<[name: string, bytes: string, statuses: number[], error: string]>([
    ['malformed', `${hint(LINK)}HTTP/1.1 103\r\nX Y: 1\r\n\r\n`, [103, 502], 'invalid_response'],
    ['one that switches', `HTTP/1.1 103 x\r\nX: y\rz\r\n\r\n${OK}`, [502], 'invalid_response'],
    ['too large', hint(`X: ${'y'.repeat(70_000)}`), [502], 'response_head_too_large'],
    [
      'too many',
      hint(LINK).repeat(101) + OK,
      [...Array.from({ length: 100 }, () => 103), 502],
      'invalid_response',
    ],
  ])(
    'refuses a response with hints that are no HTTP: %s',
    async (_name, bytes, expected, error) => {
      const { gateway } = await setUp([bytes]);
      const { statuses, response } = await statusesOf(gateway);
      expect(statuses).toEqual(expected);
      expect(await gateway.recordOf(response)).toMatchObject({ attempts: [{ error }] });
    },
  );

  it('does not begin the response: the deadline counts on', async () => {
    const { gateway } = await setUp([hint(LINK)], { early_hints: true, timeout_ms: 200 });
    const { statuses, response } = await statusesOf(gateway);
    expect(statuses).toEqual([103, 504]);
    const attempts = [{ error: 'attempt_timeout' }];
    expect(await gateway.recordOf(response)).toMatchObject({ status: 504, attempts });
  });

  it('passes on the hints of an attempt that is retried, before those of the next one', async () => {
    const route = { early_hints: true, retry_count: 1 };
    const { gateway } = await setUp([hint(LINK) + FAILED, hint(LINK) + OK], route);
    const { statuses, response } = await statusesOf(gateway);
    expect(statuses).toEqual([103, 103, 200]);
    const attempts = [{ status: 503 }, { status: 200 }];
    expect(await gateway.recordOf(response)).toMatchObject({ retry_count: 1, attempts });
  });

  it('are not replayed for an idempotency key', async () => {
    const route = { early_hints: true, idempotency: keySettings({}) };
    const { gateway, upstream } = await setUp([hint(LINK) + OK], route);
    const request = { method: 'POST', lines: ['Content-Length: 0', 'Idempotency-Key: k'] };
    expect((await statusesOf(gateway, request)).statuses).toEqual([103, 200]);
    expect((await statusesOf(gateway, request)).statuses).toEqual([200]);
    expect(upstream.arrivals()).toBe(1);
  });

  it('drops what a caller does not read, counts it, and sends the response whole', async () => {
    // More than all sockets on the way hold.
    const hints = hint(`X: ${'y'.repeat(60_000)}`).repeat(100);
    const route = { early_hints: true, retry_count: 2 };
    const { gateway, upstream } = await setUp([hints + FAILED, hints + FAILED, OK], route);
    const connection = opened(await rawConnection(gateway.port));
    connection.socket.pause();
    connection.send(requestText({ lines: ['Host: a', `Authorization: Bearer ${gateway.token}`] }));
    await eventually(() => expect(upstream.arrivals()).toBe(3));
    const text = await gateway.registry.getSingleMetricAsString(DROPPED);
    const [, dropped] = /^gateway_early_hints_dropped_total (\d+)$/m.exec(text) ?? [];
    expect(Number(dropped)).toBeGreaterThan(0);
    connection.socket.resume();
    let response = await connection.response();
    while (response.status === 103) response = await connection.response();
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
  });
});
