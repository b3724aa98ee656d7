import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createIdFactory } from '@gateway/shared/ids';
import { eventually } from '@gateway/shared/test/eventually';
import { refusesConnections } from '@gateway/shared/test/refuses-connections';
import { createLogger } from '@gateway/shared/telemetry/logger';
import { Registry } from 'prom-client';
import { createHttpMetrics } from './metrics.ts';
import { startServer } from './server.ts';

const options = () => ({
  host: '127.0.0.1',
  port: 0,
  authFailureLimit: 600,
  clock: systemClock,
  log: createLogger('test', 'silent'),
  newId: createIdFactory(() => Date.now()),
  metrics: createHttpMetrics(new Registry()),
});

describe('the management port', () => {
  it('finishes a running call when it closes, and accepts no more', async () => {
    let arrived: () => void = () => undefined;
    let answer: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (arrived = resolve));
    const server = await startServer((_request, response) => {
      answer = () => void response.end('done');
      arrived();
    }, options());
    const call = fetch(`http://127.0.0.1:${server.port}/`);
    await running;
    const closed = server.close();
    await refusesConnections(server.port);
    answer();
    expect(await (await call).text()).toBe('done');
    await closed;
  });

  it('answers a call that arrives on an idle connection while it closes, and then closes the connection', async () => {
    const server = await startServer((_request, response) => void response.end('done'), options());
    const socket = connect(server.port, '127.0.0.1');
    const received: string[] = [];
    socket.on('data', (bytes) => void received.push(bytes.toString()));
    const ended = once(socket, 'end');
    const send = () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    send();
    await eventually(() => expect(received.join('')).toMatch(/keep-alive[\s\S]*done$/i));
    const closed = server.close();
    await refusesConnections(server.port);
    send();
    await eventually(() => expect(received.join('')).toMatch(/connection: close[\s\S]*done$/i));
    await ended;
    await closed;
  });

  it('answers calls on connections that the kernel has accepted before it closes', async () => {
    const server = await startServer((_request, response) => void response.end('done'), options());
    const sockets = Array.from({ length: 60 }, () => connect(server.port, '127.0.0.1'));
    const answers = sockets.map((socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      return text(socket).catch(String);
    });
    // The sockets are connected within this turn: the event loop has not taken them.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await server.close();
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/done$/);
  });

  it('closes soon if a client has an open connection and sends nothing', async () => {
    const server = await startServer((_request, response) => void response.end(), options());
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    const ended = once(socket, 'close');
    socket.resume();
    const startedMs = performance.now();
    await server.close();
    expect(performance.now() - startedMs).toBeLessThan(3000);
    await ended;
  });

  it('counts requests that are not valid HTTP, by reason', async () => {
    const given = options();
    const server = await startServer((_request, response) => void response.end(), given);
    for (const request of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n`]) {
      const socket = connect(server.port, '127.0.0.1');
      socket.end(request);
      await text(socket);
    }
    const { values } = await given.metrics.refused.get();
    const counts = Object.fromEntries(
      values.map(({ labels, value }) => [String(labels.reason), value] as const),
    );
    // The others are there too, so that an increase is seen from the first one on.
    expect(counts).toMatchObject({ not_http: 1, header_overflow: 1, not_accepted: 0 });
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(2);
    await server.close();
  });
});
