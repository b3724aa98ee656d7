import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { listen, startRawUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';

const opened = closeAfterEach();
const S = 1000;
const KIB = 1024;
/** Ten times this is the minimum of ten seconds, and less than the gateway reads at once. */
const PIECE = 2 * KIB;
const TIMEOUT_MS = 10 * S;

/** A gateway whose time the test moves, and a caller that sends a body piece by piece. */
async function setUp(
  upstreamUrl: string,
  route: Partial<SnapshotRoute> = {},
  options: TestDataPathOptions = {},
) {
  const time = manualClock(Date.now());
  const settings = { upstreams: [upstreamUrl], timeout_ms: TIMEOUT_MS, ...route };
  const gateway = await startTestDataPath(settings, { ...options, clock: time });
  opened({
    async stop() {
      let isStopped = false;
      void gateway.stop().then(() => (isStopped = true));
      await eventually(() => {
        time.advance(1000);
        expect(isStopped).toBe(true);
      });
    },
  });
  const connection = opened(await rawConnection(gateway.port));
  const begin = async (...lines: string[]) => {
    const all = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...lines];
    connection.send(requestText({ method: 'POST', lines: all }));
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
  };
  return { time, gateway, connection, begin };
}

/** Counts what arrives, and answers when the test says so. */
async function startCounting() {
  const requests: { bytes: number; ended: boolean; response: ServerResponse }[] = [];
  const server = createServer((request, response) => {
    const counted = { bytes: 0, ended: false, response };
    requests.push(counted);
    request.on('data', (chunk: Buffer) => (counted.bytes += chunk.length));
    request.on('end', () => (counted.ended = true));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
  });
  const { url } = opened(await listen(server));
  return { url, requests };
}

const piece = (bytes = PIECE) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked';
const END = '0\r\n\r\n';

describe('a slow upload', () => {
  it('may take longer than timeout_ms if it streams, and the upstream has all of that for itself', async () => {
    const upstream = await startCounting();
    const { time, gateway, connection, begin } = await setUp(upstream.url);
    await begin(CHUNKED);
    for (let sent = PIECE; sent <= 30 * PIECE; sent += PIECE) {
      connection.send(piece());
      await eventually(() => expect(upstream.requests[0]?.bytes).toBe(sent));
      time.advance(2 * S);
    }
    connection.send(END);
    await eventually(() => expect(upstream.requests[0]?.ended).toBe(true));
    time.advance(TIMEOUT_MS - 1);
    upstream.requests[0]?.response.end('done');
    const response = await connection.response();
    expect(response.status).toBe(200);
    const { timing } = await gateway.recordOf(response);
    expect(timing.receiving_ms).toBeCloseTo(60 * S, 0);
    expect(timing.upstream_ms).toBeCloseTo(TIMEOUT_MS - 1, 0);
  });

  it.each([
    ['read whole', 'X-Other: 1'],
    ['read whole for its idempotency key', 'Idempotency-Key: one'],
    ['announced with Expect', 'Expect: 100-continue'],
  ])('may take longer than timeout_ms if it is %s', async (_case, line) => {
    const upstream = await startCounting();
    const { time, gateway, connection, begin } = await setUp(upstream.url);
    await begin('Content-Length: 2', line);
    if (line.startsWith('Expect')) expect((await connection.response()).status).toBe(100);
    time.advance(2.9 * TIMEOUT_MS);
    connection.send('ok');
    await eventually(() => expect(upstream.requests[0]?.ended).toBe(true));
    time.advance(TIMEOUT_MS - 1);
    upstream.requests[0]?.response.end('done');
    const response = await connection.response();
    expect(response.status).toBe(200);
    expect((await gateway.recordOf(response)).timing.receiving_ms).toBeCloseTo(29 * S, 0);
  });

  it('leaves a retry all of timeout_ms, and each attempt all of its own time', async () => {
    const upstream = await startCounting();
    const retry = {
      on_statuses: [503],
      per_attempt_timeout_ms: 4 * S,
      backoff_ms: 0,
      unsafe_methods: 'always' as const,
    };
    const { time, gateway, connection, begin } = await setUp(upstream.url, { retry });
    await begin('Content-Length: 2');
    time.advance(20 * S);
    connection.send('ok');
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await eventually(() => expect(upstream.requests[attempt - 1]?.ended).toBe(true));
      time.advance(4 * S);
    }
    await eventually(() => expect(upstream.requests[2]?.ended).toBe(true));
    time.advance(2 * S);
    const response = await connection.response();
    await expectRefusal(response, 504, 'upstream_timeout');
    const { attempts } = await gateway.recordOf(response);
    expect(attempts.map(({ duration_ms }) => Math.round(duration_ms / S))).toEqual([4, 4, 2]);
  });

  it('takes no time from an attempt whose body streams', async () => {
    const upstream = await startCounting();
    const retry = {
      on_statuses: [],
      per_attempt_timeout_ms: 4 * S,
      backoff_ms: 0,
      unsafe_methods: 'never' as const,
    };
    const { time, connection, begin } = await setUp(upstream.url, { retry });
    await begin(CHUNKED);
    connection.send(piece());
    await eventually(() => expect(upstream.requests[0]?.bytes).toBe(PIECE));
    time.advance(20 * S);
    connection.send(piece() + END);
    await eventually(() => expect(upstream.requests[0]?.ended).toBe(true));
    time.advance(4 * S - 1);
    expect(connection.receivedText).toBe('');
    time.advance(1);
    await expectRefusal(await connection.response(), 504, 'upstream_timeout');
  });
});

describe('a caller that is stuck', () => {
  it.each([
    ['if the body streams', CHUNKED, piece(), 1, 60 * S],
    ['if it is read whole', 'Content-Length: 5', 'x', 0, 30 * S],
  ])(
    'gets 408 that names the minimum rate, and the upstream no whole request, %s',
    async (_case, line, body, arrived, afterMs) => {
      const upstream = await startCounting();
      const { time, gateway, connection, begin } = await setUp(upstream.url);
      await begin(line);
      await eventually(() => expect(upstream.requests).toHaveLength(arrived));
      time.advance(S);
      connection.send(body.repeat(arrived === 0 ? 1 : 20));
      if (arrived > 0) {
        await eventually(() => expect(upstream.requests[0]?.bytes).toBe(20 * PIECE));
      }
      time.advance(afterMs - S - 1);
      expect(connection.receivedText).toBe('');
      time.advance(1);
      const response = await connection.response();
      const error = await expectRefusal(response, 408, 'request_timeout');
      expect(error.message).toContain('(min_upload_bytes_per_second: 1024)');
      expect(response.headers.get('connection')).toBe('close');
      const record = await gateway.recordOf(response);
      expect(record).toMatchObject({ outcome: 'rejected', error_code: 'request_timeout' });
      expect(record.timing.receiving_ms).toBeCloseTo(afterMs, 0);
      expect(upstream.requests.some(({ ended }) => ended)).toBe(false);
    },
  );

  it.each([
    ['max_upload_ms', { max_upload_ms: 7 * S }, '(max_upload_ms: 7000)'],
    ['body_idle_timeout_ms', { body_idle_timeout_ms: 7 * S }, '(body_idle_timeout_ms: 7000)'],
  ])('gets 408 by %s of the route', async (_case, route, named) => {
    const upstream = await startCounting();
    const { time, connection, begin } = await setUp(upstream.url, route);
    await begin('Content-Length: 5', 'Idempotency-Key: one');
    time.advance(7 * S);
    const error = await expectRefusal(await connection.response(), 408, 'request_timeout');
    expect(error.message).toContain(named);
    expect(upstream.requests).toEqual([]);
  });
});

describe('an upstream that stops reading', () => {
  it('gets 504 after timeout_ms of that, however long the caller took before and has not ended', async () => {
    const sockets: Socket[] = [];
    let received = 0;
    const deaf = opened(
      await startRawUpstream((socket) => {
        sockets.push(socket.on('data', (bytes) => (received += bytes.length)));
      }),
    );
    const { time, gateway, connection, begin } = await setUp(deaf.url);
    await begin('Content-Length: 10000000');
    for (let sent = 0; sent < 20 * KIB; sent += KIB) {
      connection.send('x'.repeat(KIB));
      await eventually(() => expect(received).toBeGreaterThan(sent));
      time.advance(S);
    }
    sockets[0]?.pause();
    // More than the operating system keeps, and not all of the body.
    connection.send('x'.repeat(9_000_000));
    await eventually(() => expect(connection.socket.writableLength).toBeGreaterThan(0));
    let last = -1;
    let same = 0;
    await eventually(() => {
      same = connection.socket.writableLength === last ? same + 1 : 0;
      last = connection.socket.writableLength;
      expect(same).toBeGreaterThan(10);
    });
    time.advance(TIMEOUT_MS - 1);
    expect(connection.receivedText).toBe('');
    time.advance(1);
    const response = await connection.response();
    await expectRefusal(response, 504, 'upstream_timeout');
    const record = await gateway.recordOf(response);
    expect(record).toMatchObject({ outcome: 'timeout', error_code: 'upstream_timeout' });
    expect(record.timing.receiving_ms).toBeCloseTo(20 * S, 0);
    expect(record.timing.upstream_ms).toBeCloseTo(TIMEOUT_MS, 0);
  });
});

describe('a silent stream', () => {
  it('is open for as long as body_idle_timeout_ms of the route, whatever the data plane says', async () => {
    const upstream = await startCounting();
    const { time, connection, begin } = await setUp(
      upstream.url,
      { body_idle_timeout_ms: 300 * S },
      { environment: { BODY_IDLE_TIMEOUT_MS: '1000' } },
    );
    await begin();
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    upstream.requests[0]?.response.write('first');
    await eventually(() => expect(connection.receivedText).toContain('first'));
    time.advance(300 * S - 1);
    upstream.requests[0]?.response.write('second');
    await eventually(() => expect(connection.receivedText).toContain('second'));
    expect(connection.ended).toBe(false);
    time.advance(300 * S);
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).not.toContain(END);
  });

  it('is cut sooner if the route says so', async () => {
    const upstream = await startCounting();
    const { time, connection, begin } = await setUp(upstream.url, { body_idle_timeout_ms: 500 });
    await begin();
    await eventually(() => expect(upstream.requests).toHaveLength(1));
    upstream.requests[0]?.response.write('first');
    await eventually(() => expect(connection.receivedText).toContain('first'));
    time.advance(499);
    expect(connection.ended).toBe(false);
    time.advance(1);
    await eventually(() => expect(connection.ended).toBe(true));
  });

  it('may carry a trickle of the caller once the response has begun', async () => {
    const upstream = await startCounting();
    const { time, connection, begin } = await setUp(upstream.url, { max_upload_ms: 20 * S });
    await begin(CHUNKED);
    connection.send(piece(1));
    await eventually(() => expect(upstream.requests[0]?.bytes).toBe(1));
    upstream.requests[0]?.response.write('hello');
    await eventually(() => expect(connection.receivedText).toContain('hello'));
    for (let sent = 2; sent < 6; sent += 1) {
      time.advance(50 * S);
      upstream.requests[0]?.response.write(`answer ${sent}`);
      connection.send(piece(1));
      await eventually(() => expect(upstream.requests[0]?.bytes).toBe(sent));
      await eventually(() => expect(connection.receivedText).toContain(`answer ${sent}`));
    }
    connection.send(END);
    await eventually(() => expect(upstream.requests[0]?.ended).toBe(true));
    upstream.requests[0]?.response.end();
    await eventually(() => expect(connection.receivedText).toMatch(/0\r\n\r\n$/));
  });
});
