import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { DEFAULT_LIMITS, testSnapshot } from '@gateway/shared/test/snapshot';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const MAX_BYTES = 100_000;

const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;

async function setUp(
  upstream: string,
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
) {
  const gateway = opened(
    await startTestDataPath({ upstreams: [upstream], ...route }, { environment }),
  );
  const ask = async (method: string, lines: readonly string[], body = '') => {
    const connection = opened(await rawConnection(gateway.port));
    const all = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`, ...lines];
    connection.send(requestText({ method, lines: all, body }));
    return connection;
  };
  return { gateway, ask };
}

/** An upstream that never responds and keeps what it receives; each character is one byte. */
async function startRecorder() {
  const received: string[] = [];
  let open = 0;
  const upstream = opened(
    await startRawUpstream((socket) => {
      const index = received.push('') - 1;
      open += 1;
      socket.on('data', (bytes) => {
        received[index] = (received[index] ?? '') + bytes.toString('latin1');
      });
      socket.once('close', () => (open -= 1));
    }),
  );
  return { url: upstream.url, received, open: () => open };
}

describe('max_body_bytes', () => {
  const CHUNKED = ['Transfer-Encoding: chunked'];

  it.each([
    ['POST', 'announced', [`Content-Length: ${MAX_BYTES + 1}`], ''],
    ['POST', 'announced and sent', [`Content-Length: ${MAX_BYTES + 1}`], 'x'.repeat(MAX_BYTES + 1)],
    ['PUT', 'announced', [`Content-Length: ${MAX_BYTES + 1}`], ''],
    ['PUT', 'kept for a retry, in chunks', CHUNKED, chunk(MAX_BYTES) + chunk(1)],
    ['PUT', 'kept for a retry, in one chunk', CHUNKED, chunk(10 * MAX_BYTES)],
  ])(
    'sends nothing to the upstream of a %s whose body is too large: %s',
    async (method, _how, lines, body) => {
      const upstream = await startRecorder();
      const { ask, gateway } = await setUp(upstream.url, { max_body_bytes: MAX_BYTES });
      const connection = await ask(method, lines, body);
      await expectRefusal(await connection.response(), 413, 'payload_too_large');
      expect(upstream.received).toEqual([]);
      await eventually(() => expect(gateway.records).toMatchObject([{ attempts: [] }]));
    },
  );

  it.each([
    ['the last byte', chunk(MAX_BYTES) + chunk(1)],
    ['many chunks', chunk(10_000).repeat(50)],
    ['one chunk', chunk(10 * MAX_BYTES)],
    ['one chunk after the first byte', chunk(1) + chunk(10 * MAX_BYTES)],
  ])('does not send the excess of a streaming body, nor its end: %s', async (_how, body) => {
    const upstream = await startRecorder();
    const { ask } = await setUp(upstream.url, { max_body_bytes: MAX_BYTES });
    const connection = await ask('POST', CHUNKED, `${body}0\r\n\r\n`);
    await expectRefusal(await connection.response(), 413, 'payload_too_large');
    await eventually(() => expect(upstream.open()).toBe(0));
    for (const text of upstream.received) {
      const sent = text.slice(text.indexOf('\r\n\r\n') + 4);
      expect(sent.replaceAll(/[^x]/g, '').length).toBeLessThanOrEqual(MAX_BYTES);
      expect(sent).not.toMatch(/(^|\r\n)0\r\n\r\n$/);
    }
  });

  it('refuses before a caller that waits for 100 Continue sends any of its body', async () => {
    const upstream = await startRecorder();
    const { ask } = await setUp(upstream.url, { max_body_bytes: MAX_BYTES });
    const connection = await ask('POST', [
      `Content-Length: ${MAX_BYTES + 1}`,
      'Expect: 100-continue',
    ]);
    await expectRefusal(await connection.response(), 413, 'payload_too_large');
    expect(upstream.received).toEqual([]);
  });
});

describe('methods', () => {
  it('that a route does not accept reach no upstream and use none of its quota', async () => {
    const upstream = opened(await startUpstream());
    const { gateway } = await setUp(upstream.url, { methods: ['GET', 'PUT'] });
    for (const method of ['POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']) {
      const response = await gateway.call('test', { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, PUT');
      expect(await gateway.recordOf(response)).toMatchObject({
        outcome: 'rejected',
        error_code: 'method_not_allowed',
        attempts: [],
      });
    }
    const served = await gateway.call('test', { method: 'PUT' });
    expect(served.headers.get('x-ratelimit-remaining')).toBe('999');
    expect(upstream.seen).toMatchObject([{ method: 'PUT' }]);
  });

  it('apply to a WebSocket upgrade, which is a GET', async () => {
    const upstream = opened(await startUpstream());
    const { ask } = await setUp(upstream.url, { methods: ['POST'] });
    const response = await (await ask('GET', UPGRADE)).response();
    await expectRefusal(response, 405, 'method_not_allowed');
    expect(response.headers.get('allow')).toBe('POST');
    expect(upstream.seen).toHaveLength(0);
  });
});

describe('requests above MAX_IN_FLIGHT_REQUESTS', () => {
  it.each([
    ['a request', 'GET', []],
    ['a request with a body', 'POST', ['Content-Length: 5']],
  ])('get Retry-After, reach no upstream and use no quota: %s', async (_what, method, lines) => {
    const held: ServerResponse[] = [];
    const upstream = opened(await startUpstream((_seen, response) => void held.push(response)));
    const { gateway, ask } = await setUp(
      upstream.url,
      { timeout_ms: 60_000 },
      {
        MAX_IN_FLIGHT_REQUESTS: '2',
      },
    );
    const calls = [gateway.call('test'), gateway.call('test')];
    await eventually(() => expect(held.length).toBe(2));
    for (let again = 0; again < 3; again += 1) {
      const connection = await ask(method, lines, lines.length === 1 ? 'hello' : '');
      const shed = await connection.response();
      await expectRefusal(shed, 503, 'gateway_overloaded');
      expect(shed.headers.get('retry-after')).toBe('1');
      await eventually(() =>
        expect(gateway.records.at(-1)).toMatchObject({
          outcome: 'rejected',
          error_code: 'gateway_overloaded',
          attempts: [],
        }),
      );
    }
    expect(upstream.seen).toHaveLength(2);
    for (const response of held.splice(0)) response.end();
    await Promise.all(calls);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    const next = gateway.call('test');
    await eventually(() => expect(held.length).toBe(1));
    held[0]?.end();
    expect((await next).headers.get('x-ratelimit-remaining')).toBe('997');
  });
});

describe('upgrades above MAX_WEBSOCKETS', () => {
  it('get Retry-After, reach no upstream and use no quota; requests still have their own slots', async () => {
    const held: ServerResponse[] = [];
    const upstream = opened(
      await startUpstream(({ headers }, response) => {
        if (headers.upgrade === undefined) response.end('ok');
        else held.push(response);
      }),
    );
    const { gateway, ask } = await setUp(
      upstream.url,
      { timeout_ms: 60_000 },
      {
        MAX_WEBSOCKETS: '2',
        MAX_IN_FLIGHT_REQUESTS: '1',
      },
    );
    const first = await ask('GET', UPGRADE);
    const second = await ask('GET', UPGRADE);
    await eventually(() => expect(held.length).toBe(2));
    for (let again = 0; again < 3; again += 1) {
      const shed = await (await ask('GET', UPGRADE)).response();
      await expectRefusal(shed, 503, 'gateway_overloaded');
      expect(shed.headers.get('retry-after')).toBe('1');
    }
    expect((await gateway.call('test')).headers.get('x-ratelimit-remaining')).toBe('997');
    for (const response of held.splice(0)) response.end();
    for (const connection of [first, second])
      expect((await connection.response()).status).toBe(200);
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    await ask('GET', UPGRADE);
    await eventually(() => expect(held.length).toBe(1));
  });

  it('of one service are bounded by max_in_flight, apart from its requests', async () => {
    const held: ServerResponse[] = [];
    const upstream = opened(
      await startUpstream(({ headers }, response) => {
        if (headers.upgrade === undefined) response.end('ok');
        else held.push(response);
      }),
    );
    const { gateway, ask } = await setUp(upstream.url, { timeout_ms: 60_000 });
    const snapshot = testSnapshot({ upstreams: [upstream.url] }, gateway.token);
    const limits = { ...DEFAULT_LIMITS, max_in_flight: 1 };
    const services = snapshot.services.map((service) => ({ ...service, limits }));
    await gateway.use({ ...snapshot, version: 2, services });
    const first = await ask('GET', UPGRADE);
    await eventually(() => expect(held.length).toBe(1));
    const shed = await (await ask('GET', UPGRADE)).response();
    const error = await expectRefusal(shed, 503, 'upstream_overloaded');
    expect(error.message).toContain('max_in_flight of 1');
    expect((await gateway.call('test')).status).toBe(200);
    held[0]?.end();
    expect((await first.response()).status).toBe(200);
  });
});
