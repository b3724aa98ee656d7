import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Clock } from '@gateway/shared/clock';
import type { RequestRecord } from '@gateway/shared/records/record';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { SlowQuotas } from '../../test/slow-quotas.ts';

const opened = closeAfterEach();
const MIB = 1024 * 1024;
const turn = () => new Promise<undefined>((resolve) => setImmediate(resolve, undefined));

/** Waits until bytes have moved and do not move any more. */
async function stalled(moved: () => number): Promise<void> {
  let last = 0;
  let same = 0;
  await eventually(() => {
    const now = moved();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    expect(same).toBeGreaterThan(10);
  });
}

/** A gateway whose time moves when the test says so, and an upstream that answers when the test says so. */
async function setUp(
  route: Partial<SnapshotRoute> = {},
  options: Omit<TestDataPathOptions, 'clock'> = {},
) {
  const time = manualClock(Date.now());
  const timersMs: number[] = [];
  const clock: Clock = {
    ...time,
    setTimer(delayMs, callback) {
      timersMs.push(delayMs);
      return time.setTimer(delayMs, callback);
    },
  };
  const arrived: ServerResponse[] = [];
  const bodies: number[] = [];
  const server = createServer((request, response) => {
    const index = arrived.push(response) - 1;
    bodies[index] = 0;
    request.on('data', (chunk: Buffer) => (bodies[index] = (bodies[index] ?? 0) + chunk.length));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
  });
  const upstream = opened(await listen(server));
  const settings = { upstreams: [upstream.url], timeout_ms: 60_000, retry_count: 1, ...route };
  const gateway = await startTestDataPath(settings, { ...options, clock });
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
  /** The response for which the upstream's `count`-th request waits. */
  const arrival = (count = 1) =>
    eventually(() => {
      const response = arrived[count - 1];
      if (response === undefined) throw new Error(`no request ${count}`);
      return response;
    });
  const authorization = `Bearer ${gateway.token}`;
  const post = (headers: Record<string, string> = {}) =>
    httpRequest(`${gateway.url}/v1/proxy/test`, {
      method: 'POST',
      headers: { authorization, ...headers },
    });
  const entered = (count: number) =>
    eventually(async () => expect(await gateway.inFlight()).toBe(count));
  return { time, timersMs, gateway, arrival, bodies, server, post, entered };
}

/** The times of a record that are not zero, if all add up to its total. */
function timesOf({ timing, waits }: RequestRecord): Record<string, number> {
  const { total_ms, ...states } = timing;
  const us = (ms: number | null) => Math.round((ms ?? NaN) * 1000);
  const sum = (parts: readonly (number | null)[]) => parts.reduce<number>((a, ms) => a + us(ms), 0);
  expect(sum(Object.values(states))).toBe(us(total_ms));
  expect(sum(Object.values(waits ?? {}))).toBe(us(timing.waiting_ms));
  const { waiting_ms: _, ...others } = states;
  return Object.fromEntries(
    Object.entries({ ...others, ...waits }).filter(([, ms]) => ms !== 0),
  ) as Record<string, number>;
}

describe('the time of a request', () => {
  it('is that of the upstream while its response is awaited, head or body', async () => {
    const { time, gateway, arrival } = await setUp();
    const call = gateway.call('test');
    const answer = await arrival();
    time.advance(40);
    answer.writeHead(200, { 'content-length': '9' }).write('half');
    const response = await call;
    time.advance(25);
    answer.end(' more');
    expect(await response.text()).toBe('half more');
    expect(timesOf(await gateway.recordOf(response))).toEqual({ upstream_ms: 65 });
    expect(response.headers.get('x-gateway-latency')).toBe('0');
  });

  it('is a wait before a retry, not that of the upstream', async () => {
    const { time, timersMs, gateway, arrival } = await setUp();
    const call = gateway.call('test');
    const failure = await arrival();
    time.advance(5);
    const before = timersMs.length;
    failure.writeHead(503, { 'retry-after': '2' }).end();
    const delayMs = await eventually(() => {
      const found = timersMs.slice(before).find((ms) => ms >= 2000 && ms < 5000);
      if (found === undefined) throw new Error('no back-off');
      return found;
    });
    time.advance(delayMs);
    const answer = await arrival(2);
    time.advance(3);
    answer.end('ok');
    const response = await call;
    expect(response.status).toBe(200);
    const record = await gateway.recordOf(response);
    expect(timesOf(record)).toEqual({
      upstream_ms: 8,
      retry_ms: expect.closeTo(delayMs, 2),
    });
    expect(response.headers.get('x-gateway-latency')).toBe('0');
  });

  it('is a wait for a connection while others have them all', async () => {
    const { time, gateway, arrival, entered } = await setUp(
      {},
      { environment: { MAX_UPSTREAM_CONNECTIONS: '1' } },
    );
    const first = gateway.call('test');
    const held = await arrival();
    const second = gateway.call('test');
    await entered(2);
    time.advance(300);
    held.end('ok');
    await first;
    const answer = await arrival(2);
    time.advance(40);
    answer.end('ok');
    const response = await second;
    const record = await gateway.recordOf(response);
    expect(timesOf(record)).toEqual({ connection_ms: 300, upstream_ms: 40 });
    expect(record.timing.waiting_ms).toBe(300);
  });

  it('is a wait for a connection of a request that is never sent', async () => {
    const { time, gateway, arrival, entered } = await setUp(
      { timeout_ms: 500, retry_count: 0 },
      { environment: { MAX_UPSTREAM_CONNECTIONS: '1' } },
    );
    const first = gateway.call('test');
    const held = await arrival();
    time.advance(100);
    const second = gateway.call('test');
    await entered(2);
    held.writeHead(200).write('the rest comes later');
    await first;
    time.advance(500);
    const response = await second;
    expect(response.headers.get('x-gateway-error')).not.toBeNull();
    expect(timesOf(await gateway.recordOf(response))).toEqual({ connection_ms: 500 });
    held.end();
  });

  it('is a wait for the key while another request has it', async () => {
    const { time, gateway, arrival, entered } = await setUp();
    const headers = { 'idempotency-key': 'k1' };
    const first = gateway.call('test', { method: 'POST', headers });
    const answer = await arrival();
    const second = gateway.call('test', { method: 'POST', headers });
    await entered(2);
    time.advance(700);
    answer.end('ok');
    await first;
    const response = await eventually(async () => {
      time.advance(50);
      const settled = await Promise.race([second, turn()]);
      if (settled === undefined) throw new Error('it waits');
      return settled;
    });
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    const times = timesOf(await gateway.recordOf(response));
    expect(times).toEqual({ key_ms: expect.any(Number) });
    expect(times['key_ms']).toBeGreaterThanOrEqual(700);
  });

  it('is a wait for the quota while NATS is asked', async () => {
    const quotas = new SlowQuotas();
    const { time, gateway, arrival } = await setUp({}, { quotas });
    const call = gateway.call('test');
    await eventually(() => expect(quotas.waiting).toHaveLength(1));
    time.advance(120);
    quotas.waiting[0]?.();
    (await arrival()).end('ok');
    const response = await call;
    expect(timesOf(await gateway.recordOf(response))).toEqual({ quota_ms: 120 });
    expect(response.headers.get('x-gateway-latency')).toBe('0');
  });

  it.each([
    ['kept', { 'content-length': '10' }],
    ['streamed', {}],
  ])('is receiving while a %s body is awaited', async (how, headers) => {
    const { time, gateway, post, arrival, bodies, entered } = await setUp();
    const request = post(headers);
    request.write('first');
    await entered(1);
    if (how === 'streamed') await eventually(() => expect(bodies[0]).toBe(5));
    time.advance(800);
    request.end('later');
    await eventually(() => expect(bodies[0]).toBe(10));
    time.advance(30);
    (await arrival()).end('ok');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    const record = await gateway.recordOf(String(response.headers['x-request-id']));
    expect(timesOf(record)).toEqual({ receiving_ms: 800, upstream_ms: 30 });
    expect(response.headers['x-gateway-latency']).toBe('0');
  });

  it('is that of the upstream while it does not take the body', async () => {
    const { time, gateway, post, server } = await setUp({ max_body_bytes: 64 * MIB });
    server.removeAllListeners('request');
    let finish: (() => void) | undefined;
    server.on('request', (request, response) => {
      finish = () => void request.resume().once('end', () => response.end('ok'));
    });
    const request = post();
    request.end(Buffer.alloc(24 * MIB));
    await stalled(() => (finish === undefined ? 0 : (request.socket?.bytesWritten ?? 0)));
    time.advance(600);
    finish?.();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    const record = await gateway.recordOf(String(response.headers['x-request-id']));
    expect(timesOf(record)).toEqual({ upstream_ms: 600 });
    expect(record.request_bytes).toBe(24 * MIB);
  });

  it('is sending while the caller does not take the response', async () => {
    const { time, gateway, post, arrival } = await setUp();
    const request = post();
    request.end();
    const answer = await arrival();
    answer.end(Buffer.alloc(24 * MIB));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // Nobody reads it, so that all buffers on the way are full.
    await stalled(() => answer.socket?.bytesWritten ?? 0);
    time.advance(900);
    response.resume();
    const record = await gateway.recordOf(String(response.headers['x-request-id']));
    expect(timesOf(record)).toEqual({ sending_ms: 900 });
    expect(record.response_bytes).toBe(24 * MIB);
  });

  it('of a WebSocket is that of the upstream until it has switched, then receiving', async () => {
    const { time, gateway, server } = await setUp();
    const sockets = opened(new WebSocketServer({ noServer: true }));
    let accept: (() => void) | undefined;
    server.on('upgrade', (request, socket, head) => {
      accept = () => sockets.handleUpgrade(request, socket, head, () => undefined);
    });
    const authorization = `Bearer ${gateway.token}`;
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/proxy/test`, {
      headers: { authorization },
    });
    await eventually(() => expect(accept).toBeDefined());
    time.advance(20);
    accept?.();
    await once(socket, 'open');
    time.advance(3000);
    socket.close();
    await once(socket, 'close');
    await eventually(() => expect(gateway.records).toHaveLength(1));
    const times = gateway.records.map(timesOf);
    expect(times).toEqual([{ upstream_ms: 20, receiving_ms: 3000 }]);
  });

  it('ends when the caller leaves', async () => {
    const { time, gateway, post, arrival } = await setUp();
    const request = post();
    request.on('error', () => undefined);
    request.end();
    await arrival();
    time.advance(250);
    request.destroy();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records.map(timesOf)).toEqual([{ upstream_ms: 250 }]);
    expect(gateway.records[0]).toMatchObject({ outcome: 'client_aborted', status: null });
  });

  it('of a body whose caller leaves is receiving', async () => {
    const { time, gateway, post, entered } = await setUp();
    const request = post({ 'content-length': '10' });
    request.on('error', () => undefined);
    request.write('half');
    await entered(1);
    time.advance(90);
    request.destroy();
    await eventually(() => expect(gateway.records).toHaveLength(1));
    expect(gateway.records.map(timesOf)).toEqual([{ receiving_ms: 90 }]);
  });

  it('of a refused request adds up too', async () => {
    const { gateway } = await setUp();
    const headers = { authorization: 'Bearer gwt_x' };
    const response = await gateway.call('test', { headers });
    expect(response.status).toBe(401);
    expect(timesOf(await gateway.recordOf(response))).toEqual({});
  });
});

describe('by the clock of the machine', () => {
  it('the times add up, and the latency is what the gateway took up to the head', async () => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => response.end(Buffer.alloc(100_000)));
    });
    const upstream = opened(await listen(server));
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url] }));
    for (let call = 0; call < 20; call += 1) {
      const body = Buffer.alloc(call * 20_000);
      const response = await gateway.call('test', { method: 'POST', body });
      await response.arrayBuffer();
      const record = await gateway.recordOf(response);
      const { gateway_ms = 0, upstream_ms } = timesOf(record);
      expect(upstream_ms).toBeGreaterThan(0);
      expect(response.headers.get('x-gateway-latency')).toBe(String(Math.round(gateway_ms)));
    }
  });
});
