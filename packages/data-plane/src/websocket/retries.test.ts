import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { WebSocket, WebSocketServer } from 'ws';
import { startTestDataPath, type TestDataPath } from '../../test/data-path.ts';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startFailingUpstream } from '../../test/failing-upstream.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startStuckListener } from '../../test/stuck-listener.ts';
import { closedPort, listen } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

/** An upstream that echoes, and responds to plain requests with its name. */
async function startEcho(name = 'echo') {
  const server = createServer((_request, response) => void response.end(name));
  const upstream = opened(await listen(server));
  const sockets = opened(new WebSocketServer({ server }));
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      socket.send(data);
    });
    socket.on('error', () => undefined);
  });
  return { url: upstream.url, sockets };
}

const start = async (
  route: Partial<SnapshotRoute> & { readonly upstreams: readonly string[] },
  environment: Record<string, string> = {},
) => opened(await startTestDataPath(route, { environment }));

function dial(gateway: TestDataPath): WebSocket {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const url = `${gateway.url.replace('http', 'ws')}/v1/proxy/test`;
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  opened({ close: () => socket.terminate() });
  return socket;
}

/** The status of the handshake and the id of its request. */
async function answerOf(socket: WebSocket): Promise<{ status: number; id: string }> {
  const answer = await new Promise<IncomingMessage>((resolve) => {
    socket.once('upgrade', resolve);
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      resolve(response);
    });
  });
  return { status: answer.statusCode ?? 0, id: String(answer.headers['x-request-id']) };
}

/** Closes the tunnel, so that its record is written. */
async function recordAfter(gateway: TestDataPath, socket: WebSocket, id: string) {
  socket.close();
  return gateway.recordOf(id);
}

describe('WebSocket with an upstream that fails', () => {
  it.each([
    ['refuses the connection', async () => `http://127.0.0.1:${await closedPort()}`],
    ['does not accept the connection', async () => opened(await startStuckListener()).url],
  ])('uses another upstream if the first %s', async (_how, failing) => {
    const alive = await startEcho();
    const upstreams = [await failing(), alive.url];
    const gateway = await start({ upstreams, retry_count: 1 }, { CONNECT_TIMEOUT_MS: '300' });
    const retried = [];
    for (let call = 0; call < 20; call += 1) {
      const socket = dial(gateway);
      const { status, id } = await answerOf(socket);
      expect(status).toBe(101);
      const message = once(socket, 'message') as Promise<[Buffer]>;
      socket.send('hello');
      expect(String((await message)[0])).toBe('hello');
      const record = await recordAfter(gateway, socket, id);
      expect(record).toMatchObject({ status: 101, outcome: 'success', upstream: { id: 'ups_1' } });
      expect(record.attempts.at(-1)).toMatchObject({ upstream: 'ups_1', status: 101 });
      if (record.retry_count > 0) retried.push(record.attempts[0]);
    }
    expect(retried.length).toBeGreaterThan(0);
    for (const attempt of retried) {
      expect(attempt).toMatchObject({
        upstream: 'ups_0',
        error: expect.stringMatching(/^connect_(refused|timeout)$/),
      });
    }
  });

  it('uses another upstream after a status that the route retries, and passes on any other response', async () => {
    const busy = opened(await startFailingUpstream('503'));
    const alive = await startEcho();
    const gateway = await start({ upstreams: [busy.url, alive.url], retry_count: 1 });
    for (let call = 0; call < 20; call += 1) {
      const socket = dial(gateway);
      const { status, id } = await answerOf(socket);
      expect(status).toBe(101);
      await recordAfter(gateway, socket, id);
    }
    expect(gateway.records.some((record) => record.retry_count === 1)).toBe(true);
    const broken = opened(await startFailingUpstream('500'));
    const other = await start({ upstreams: [broken.url], retry_count: 3 });
    const { status, id } = await answerOf(dial(other));
    expect(status).toBe(500);
    expect((await other.recordOf(id)).attempts).toMatchObject([{ status: 500 }]);
    expect(broken.total).toBe(1);
  });

  it('is attempted 1 + retry_count times, each attempt in the record', async () => {
    const upstreams = [`http://127.0.0.1:${await closedPort()}`];
    for (const retryCount of [0, 2]) {
      const gateway = await start({ upstreams, retry_count: retryCount });
      const { status, id } = await answerOf(dial(gateway));
      expect(status).toBe(502);
      const record = await gateway.recordOf(id);
      expect(record).toMatchObject({ outcome: 'upstream_unavailable', retry_count: retryCount });
      expect(record.attempts).toHaveLength(1 + retryCount);
      for (const attempt of record.attempts) {
        expect(attempt).toMatchObject({ error: 'connect_refused' });
      }
    }
  });

  it('ends at the deadline, even if retries are left', async () => {
    const silent = opened(await startFailingUpstream('silence'));
    const retry = { on_statuses: [], backoff_ms: 10, unsafe_methods: 'never' as const };
    const gateway = await start({
      upstreams: [silent.url],
      retry_count: 10,
      timeout_ms: 1000,
      retry: { ...retry, per_attempt_timeout_ms: 300 },
    });
    const { status, id } = await answerOf(dial(gateway));
    expect(status).toBe(504);
    const { attempts, outcome } = await gateway.recordOf(id);
    expect(outcome).toBe('timeout');
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.length).toBeLessThan(5);
    expect(silent.total).toBe(attempts.length);
    for (const attempt of attempts) expect(attempt.started_ms).toBeLessThan(1000);
  });

  it('ends when its caller leaves, also between two attempts', async () => {
    const upstreams = [`http://127.0.0.1:${await closedPort()}`];
    const retry = { on_statuses: [], backoff_ms: 10_000, unsafe_methods: 'never' as const };
    const gateway = await start({
      upstreams,
      retry_count: 10,
      timeout_ms: 60_000,
      retry: { ...retry, per_attempt_timeout_ms: null },
    });
    const socket = dial(gateway);
    await eventually(async () => expect(await gateway.inFlight()).toBe(1));
    socket.terminate();
    await eventually(() => expect(gateway.records.length).toBe(1));
    expect(gateway.records).toMatchObject([{ outcome: 'client_aborted', status: null }]);
    expect(gateway.records[0]?.attempts.length).toBeLessThan(10);
    expect(await gateway.inFlight()).toBe(0);
  });
});

describe('a tunnel', () => {
  it('counts as in flight at its upstream while it is open', async () => {
    const one = await startEcho('one');
    const other = await startEcho('other');
    const gateway = await start({ upstreams: [one.url, other.url] });
    const first = dial(gateway);
    const { id } = await answerOf(first);
    const full = one.sockets.clients.size === 1 ? 'one' : 'other';
    const free = full === 'one' ? 'other' : 'one';
    for (let call = 0; call < 12; call += 1) {
      expect(await (await gateway.call('test')).text()).toBe(free);
    }
    const second = dial(gateway);
    await answerOf(second);
    expect([one.sockets.clients.size, other.sockets.clients.size]).toEqual([1, 1]);
    await recordAfter(gateway, first, id);
    for (let call = 0; call < 12; call += 1) {
      expect(await (await gateway.call('test')).text()).toBe(full);
    }
  });

  it('that was refused or failed leaves nothing in flight at its upstream', async () => {
    const refusing = createServer((_request, response) => void response.end('plain'));
    refusing.on('upgrade', (_request, socket) => {
      socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n');
    });
    const upstream = opened(await listen(refusing));
    const alive = await startEcho('alive');
    const gateway = await start({ upstreams: [upstream.url] });
    for (let call = 0; call < 10; call += 1) {
      expect((await answerOf(dial(gateway))).status).toBe(403);
    }
    await eventually(async () => expect(await gateway.inFlight()).toBe(0));
    const both = testSnapshot({ upstreams: [upstream.url, alive.url] }, gateway.token);
    await gateway.use({ ...both, version: 2 });
    // An upstream with a request left in flight would get no more.
    const texts = new Set<string>();
    for (let call = 0; call < 40; call += 1) texts.add(await (await gateway.call('test')).text());
    expect(texts).toEqual(new Set(['plain', 'alive']));
  });
});
