import { describe, expect, it } from '@jest/globals';
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath, type TestDataPathOptions } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawConnection, requestText } from '@gateway/shared/test/raw-client';
import { refusesConnections } from '@gateway/shared/test/refuses-connections';
import { startUpstream } from '@gateway/shared/test/upstream';
import { withCoarseTimers } from '../timers/coarse-timers.ts';

const opened = closeAfterEach();

/** The real clock, on which the grace of a drain ends when the test says so. */
function graceClock(graceMs: number): { readonly clock: Clock; readonly endGrace: () => void } {
  const clock = withCoarseTimers(systemClock, 5);
  let endGrace: () => void = () => undefined;
  const setTimer: Clock['setTimer'] = (delayMs, callback) => {
    const timer = clock.setTimer(delayMs, callback);
    if (delayMs === graceMs) {
      endGrace = () => {
        timer.cancel();
        callback();
      };
    }
    return timer;
  };
  return { clock: { ...clock, setTimer }, endGrace: () => endGrace() };
}

/** A port whose closing takes until the test says so. */
async function slowlyClosingPort() {
  const server = createServer();
  opened({ stop: () => void server.close() });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const portClosed = Promise.withResolvers<undefined>();
  const connections: TestDataPathOptions['connections'] = (serve) => {
    server.on('connection', serve);
    return () => portClosed.promise;
  };
  return { port, connections, portClosed };
}

async function setUp(
  graceMs: number,
  timeoutMs: number,
  ports: Pick<TestDataPathOptions, 'connections' | 'clock'> = {},
) {
  const held: ServerResponse[] = [];
  const upstream = opened(
    await startUpstream((seen, response) => {
      if (seen.url.includes('hold')) held.push(response);
      else response.end('ok');
    }),
  );
  const gateway = opened(
    await startTestDataPath(
      { upstreams: [upstream.url], timeout_ms: 60_000 },
      {
        environment: { DRAIN_GRACE_MS: String(graceMs), DRAIN_TIMEOUT_MS: String(timeoutMs) },
        ...ports,
      },
    ),
  );
  const lines = ['Host: gateway.test', `Authorization: Bearer ${gateway.token}`];
  const text = (target: string) => requestText({ target: `/v1/proxy/test${target}`, lines });
  return { gateway, held, text };
}

describe('a drain', () => {
  it('accepts no new connection and finishes requests in flight with Connection: close', async () => {
    const { gateway, held, text } = await setUp(0, 20_000);
    const connection = opened(await rawConnection(gateway.port));
    connection.send(text('?hold'));
    await eventually(() => expect(held.length).toBe(1));
    let stopped = false;
    const stopping = gateway.stop().then(() => (stopped = true));
    await refusesConnections(gateway.port);
    expect(stopped).toBe(false);
    held[0]?.end('held');
    const response = await connection.response();
    expect(response).toMatchObject({ status: 200, complete: true });
    expect(await response.text()).toBe('held');
    expect(response.headers.get('connection')).toBe('close');
    await stopping;
    expect(gateway.records).toMatchObject([{ outcome: 'success' }]);
  });

  it('serves every connection that the kernel has accepted before', async () => {
    const { clock, endGrace } = graceClock(20_000);
    const { gateway, held, text } = await setUp(20_000, 60_000, { clock });
    const sockets = Array.from({ length: 60 }, () => connect(gateway.port, '127.0.0.1'));
    const answers = sockets.map(async (socket) => {
      let answer = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
      const ended = Promise.race([
        once(socket, 'close').then(() => 'closed'),
        once(socket, 'error').then(([error]) => String(error)),
      ]);
      socket.write(text('?hold'));
      return [await ended, /^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n/is.test(answer)];
    });
    // The sockets are connected within this turn: the event loop has not taken them.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const stopping = gateway.stop();
    await refusesConnections(gateway.port);
    await eventually(() => expect(held.length).toBe(sockets.length));
    for (const response of held) response.end('held');
    endGrace();
    await stopping;
    expect(await Promise.all(answers)).toEqual(sockets.map(() => ['closed', true]));
  });

  it('asks no caller to connect again before the port is closed', async () => {
    const { port, connections, portClosed } = await slowlyClosingPort();
    const { clock, endGrace } = graceClock(20_000);
    const { gateway, held, text } = await setUp(20_000, 60_000, { clock, connections });
    const connection = opened(await rawConnection(port));
    connection.send(text('?hold'));
    await eventually(() => expect(held.length).toBe(1));
    const stopping = gateway.stop();
    held[0]?.end('held');
    expect((await connection.response()).headers.get('connection')).toBe('keep-alive');
    portClosed.resolve(undefined);
    connection.send(text(''));
    expect((await connection.response()).headers.get('connection')).toBe('close');
    endGrace();
    await stopping;
  });

  it('counts the time in which the port closes', async () => {
    const { port, connections, portClosed } = await slowlyClosingPort();
    const coarse = withCoarseTimers(systemClock, 5);
    let closingMs = 0;
    const clock = { ...coarse, monotonicMs: () => coarse.monotonicMs() + closingMs };
    const { gateway, held, text } = await setUp(0, 600_000, { clock, connections });
    const connection = opened(await rawConnection(port));
    connection.send(text('?hold'));
    await eventually(() => expect(held.length).toBe(1));
    const stopping = gateway.stop();
    closingMs = 600_000;
    portClosed.resolve(undefined);
    await stopping;
    expect(gateway.records).toMatchObject([{ error_code: 'gateway_stopping' }]);
  });

  it('finishes a response that has started', async () => {
    const { gateway, held, text } = await setUp(0, 20_000);
    const connection = opened(await rawConnection(gateway.port));
    connection.send(text('?hold'));
    await eventually(() => expect(held.length).toBe(1));
    held[0]?.write('first,');
    await eventually(() => expect(connection.receivedText).toContain('first'));
    const stopping = gateway.stop();
    await refusesConnections(gateway.port);
    held[0]?.end('last');
    expect(await (await connection.response()).text()).toBe('first,last');
    await stopping;
  });

  it('answers a request on an idle connection during the grace period and then closes it', async () => {
    const { gateway, text } = await setUp(20_000, 1500);
    const connection = opened(await rawConnection(gateway.port));
    const idle = opened(await rawConnection(gateway.port));
    for (const one of [connection, idle]) {
      one.send(text(''));
      expect((await one.response()).headers.get('connection')).toBe('keep-alive');
    }
    const stopping = gateway.stop();
    await refusesConnections(gateway.port);
    expect(connection.ended).toBe(false);
    connection.send(text(''));
    const response = await connection.response();
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
    await eventually(() => expect(connection.ended).toBe(true));
    expect(idle.ended).toBe(false);
    await stopping;
    await eventually(() => expect(idle.ended).toBe(true));
  });

  it('ends within its timeout, and the records of requests that it ends name it as the cause', async () => {
    const { gateway, held, text } = await setUp(50, 300);
    const connection = opened(await rawConnection(gateway.port));
    connection.send(text('?hold'));
    await eventually(() => expect(held.length).toBe(1));
    const startedMs = performance.now();
    await gateway.stop();
    expect(performance.now() - startedMs).toBeLessThan(2000);
    await eventually(() => expect(connection.ended).toBe(true));
    expect(connection.receivedText).toBe('');
    expect(gateway.records).toMatchObject([
      { status: null, outcome: 'rejected', error_code: 'gateway_stopping', error_stage: 'forward' },
    ]);
    expect(await gateway.inFlight()).toBe(0);
  });

  it('with nothing in flight takes no longer than the grace period', async () => {
    const { gateway } = await setUp(0, 20_000);
    opened(await rawConnection(gateway.port));
    const startedMs = performance.now();
    await gateway.stop();
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });
});
