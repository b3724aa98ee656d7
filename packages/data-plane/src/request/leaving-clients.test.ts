import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { eventually } from '@gateway/shared/test/eventually';
import { countingClock } from '../../test/counting-clock.ts';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { SlowQuotas } from '../../test/slow-quotas.ts';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function setUp(
  onData: (socket: Socket) => void,
  route: Partial<SnapshotRoute> = {},
  quotas?: SlowQuotas,
) {
  const clock = countingClock();
  const open = new Set<Socket>();
  let arrivals = 0;
  const upstream = opened(
    await startRawUpstream((socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('data', (bytes) => {
        if (bytes.includes('HTTP/1.1\r\n')) arrivals += 1;
        onData(socket);
      });
    }),
  );
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url], timeout_ms: 60_000, ...route },
      { clock, ...(quotas && { quotas }) },
    ),
  );
  const connection = opened(await rawConnection(gateway.port));
  const send = (method: string, lines: readonly string[] = [], body = '') => {
    const own = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
    connection.send(requestText({ method, lines: [...own, ...lines], body }));
  };
  /** After this many requests nothing is left: none in flight, no upstream connection, no timer. */
  const nothingLeft = async (requests: number) => {
    connection.destroy();
    await eventually(() => expect(gateway.records.length).toBe(requests));
    await eventually(() => expect(open.size).toBe(0));
    await eventually(() => expect(clock.pending).toBe(0));
    expect(await gateway.inFlight()).toBe(0);
    for (const record of gateway.records) expect(record.outcome).toBe('client_aborted');
  };
  return { gateway, connection, send, nothingLeft, arrivals: () => arrivals, open };
}

describe('a caller that leaves', () => {
  it.each(['destroy', 'resetAndDestroy', 'end'] as const)(
    'before the response (%s) ends the request upstream',
    async (how) => {
      const { send, connection, nothingLeft, arrivals, gateway } = await setUp(() => undefined);
      send('GET');
      await eventually(() => expect(arrivals()).toBe(1));
      connection.socket[how]();
      await nothingLeft(1);
      expect(arrivals()).toBe(1);
      expect(gateway.records[0]).toMatchObject({
        status: null,
        error_code: null,
        attempts: [{ error: 'cancelled' }],
      });
    },
  );

  it('within the response ends the upstream exchange', async () => {
    const { send, connection, nothingLeft, gateway } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhello');
    });
    send('GET');
    await eventually(() => expect(connection.receivedText).toContain('hello'));
    connection.destroy();
    await nothingLeft(1);
    expect(gateway.records[0]).toMatchObject({ status: 200, response_bytes: 5 });
  });

  it('while it does not read the response ends the upstream exchange', async () => {
    const { send, connection, nothingLeft } = await setUp((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n`);
      const piece = Buffer.alloc(1024 * 1024);
      const pour = () => {
        while (!socket.destroyed && socket.write(piece));
        socket.once('drain', pour);
      };
      pour();
    });
    send('GET');
    await eventually(() => expect(connection.receivedText).toContain('200 OK'));
    connection.socket.pause();
    connection.destroy();
    await nothingLeft(1);
  });

  it.each([
    ['that is kept', 'POST', ['Content-Length: 1000'], 'hello', 0],
    ['that streams', 'POST', ['Content-Length: 1000000'], 'hello', 1],
    ['that streams in chunks', 'POST', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n', 1],
    ['in chunks that are kept', 'PUT', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n', 0],
  ])(
    'within a body %s ends the request, and the upstream gets no complete one',
    async (_case, method, lines, body, reached) => {
      let received = '';
      const { send, connection, nothingLeft, arrivals, gateway, open } = await setUp(
        () => undefined,
      );
      send(method, lines, body);
      await eventually(async () => expect(await gateway.inFlight()).toBe(1));
      await eventually(() => expect(arrivals()).toBe(reached));
      for (const socket of open)
        socket.on('data', (bytes) => (received += bytes.toString('latin1')));
      connection.destroy();
      await nothingLeft(1);
      expect(received).not.toContain('0\r\n\r\n');
    },
  );

  it.each([
    ['with no body', 'GET', 'X-Test: 1', ''],
    ['within a body', 'POST', 'Content-Length: 1000', 'hello'],
    ['with a body that is here', 'POST', 'Content-Length: 5', 'hello'],
  ])(
    'while its quota is pending, %s, ends the request at once, and its part of the quota is free',
    async (_case, method, line, body) => {
      const quotas = new SlowQuotas();
      const world = await setUp(() => undefined, {}, quotas);
      world.send(method, [line], body);
      await eventually(() => expect(quotas.waiting).toHaveLength(1));
      world.connection.socket.resetAndDestroy();
      await world.nothingLeft(1);
      expect(quotas.requesters[0]?.clientGone).toBe(true);
      quotas.waiting[0]?.();
      expect(world.arrivals()).toBe(0);
    },
  );

  it('during a back-off causes no further attempt', async () => {
    const retry = {
      on_statuses: [503],
      per_attempt_timeout_ms: null,
      backoff_ms: 0,
      unsafe_methods: 'never' as const,
    };
    const { send, connection, nothingLeft, arrivals, gateway } = await setUp(
      (socket) => {
        const head = 'HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nConnection: close\r\n';
        socket.end(`${head}Content-Length: 0\r\n\r\n`);
      },
      { retry },
    );
    send('GET');
    await eventually(() => expect(arrivals()).toBe(1));
    connection.destroy();
    await nothingLeft(1);
    expect(arrivals()).toBe(1);
    expect(gateway.records[0]?.attempts).toMatchObject([{ status: 503 }]);
  });

  it('during a back-off with an idempotency key does not end the request, so that the next use gets the response', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => {
        if (upstream.seen.length > 1) response.end('done');
        else response.writeHead(503, { 'retry-after': '1' }).end();
      }),
    );
    const gateway = opened(await startTestDataPath({ upstreams: [upstream.url], retry_count: 1 }));
    const keyed = { method: 'PUT', body: 'x', headers: { 'idempotency-key': 'k1' } };
    const abort = new AbortController();
    const first = gateway.call('test', { ...keyed, signal: abort.signal });
    await eventually(() => expect(upstream.seen.length).toBe(1));
    abort.abort();
    await expect(first).rejects.toThrow();
    const second = await gateway.call('test', keyed);
    expect([await second.text(), second.headers.get('idempotent-replayed')]).toEqual([
      ...['done', 'true'],
    ]);
    expect(upstream.seen).toHaveLength(2);
    await eventually(() => expect(gateway.records.length).toBe(2));
    expect(gateway.records.find((record) => record.idempotency === 'first')).toMatchObject({
      outcome: 'client_aborted',
      attempts: [{ status: 503 }, { status: 200 }],
    });
  });

  it('causes no forwarding of its pipelined requests', async () => {
    const { send, connection, nothingLeft, arrivals } = await setUp(() => undefined);
    for (let request = 0; request < 20; request += 1) send('GET');
    await eventually(() => expect(arrivals()).toBe(1));
    connection.destroy();
    await nothingLeft(1);
    expect(arrivals()).toBe(1);
  });

  it('leaks nothing, whenever it leaves', async () => {
    const { gateway, nothingLeft } = await setUp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      socket.write('x'.repeat(1000));
    });
    const requests = 200;
    const text = requestText({
      lines: ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`],
    });
    for (let request = 0; request < requests; request += 1) {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(text);
      if (request % 3 === 0) socket.once('data', () => socket.destroy());
      else if (request % 3 === 1)
        socket.once('connect', () => setImmediate(() => socket.destroy()));
      else socket.once('data', () => socket.resetAndDestroy());
    }
    // If the caller has left before the head was read, there is no request.
    await eventually(async () => {
      expect(gateway.records.length).toBeGreaterThanOrEqual((requests / 3) * 2 - 1);
      expect(await gateway.inFlight()).toBe(0);
    });
    await nothingLeft(gateway.records.length);
  });
});
