import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';
import { sendEvents } from '../../lab/send-events.ts';
import { holdConnections, refuseClosed } from '../../load/hold-connections.ts';
import type { Lab } from '../../lab/lab.ts';
import { events } from '../connections.ts';
import { echoMessages } from './echo-messages.ts';

const opened = closeAfterEach();
const { signal } = new AbortController();
const authorization = 'Bearer token';

const connectionsOf = (server: Server) => () =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));

/** Accepts connections and never answers. */
async function startSilentServer() {
  const server = createServer(() => undefined);
  const { url } = opened(await listen(server));
  return { url, connections: connectionsOf(server) };
}

async function startServer(status = 200) {
  const server = createServer((request, response) => {
    if (request.headers.authorization !== authorization) response.writeHead(401).end();
    else if (request.url === '/events') sendEvents(response);
    else response.writeHead(status).end('ok');
  });
  const { url } = opened(await listen(server));
  return { url, server, connections: connectionsOf(server) };
}

describe('holdConnections', () => {
  it('keeps connections open that had a request', async () => {
    const { url, connections } = await startServer();
    opened(await holdConnections({ url, authorization }, 120, signal));
    expect(await connections()).toBe(120);
  });

  it('counts those that the other side closed, and not its own', async () => {
    const { url, server } = await startServer();
    const sockets: Socket[] = [];
    server.on('connection', (socket: Socket) => sockets.push(socket));
    const idle = opened(await holdConnections({ url, authorization }, 5, signal));
    refuseClosed(idle);
    sockets[0]?.destroy();
    sockets[1]?.end();
    await eventually(() => expect(idle.closed).toBe(2));
    expect(() => refuseClosed(idle)).toThrow('2 of the open connections were closed');
    idle.close();
    await eventually(() => expect(sockets.every(({ closed }) => closed)).toBe(true));
    expect(idle.closed).toBe(2);
  });

  it('rejects a response other than 200, and leaves no connection open', async () => {
    const { url, connections } = await startServer(503);
    const opening = holdConnections({ url, authorization }, 120, signal);
    await expect(opening).rejects.toThrow('503');
    await eventually(async () => expect(await connections()).toBe(0));
  });

  it('rejects a connection that ends without a response', async () => {
    const { url, server } = await startServer();
    server.on('connection', (socket: Socket) => socket.destroy());
    const opening = holdConnections({ url, authorization }, 2, signal);
    await expect(opening).rejects.toThrow(/closed without a response|ECONNRESET/);
  });

  it('ends with the run, also if a server does not answer', async () => {
    const { url, connections } = await startSilentServer();
    const run = new AbortController();
    const opening = holdConnections({ url, authorization }, 3, run.signal);
    await eventually(async () => expect(await connections()).toBe(3));
    run.abort();
    await expect(opening).rejects.toThrow('aborted');
    await eventually(async () => expect(await connections()).toBe(0));
  });
});

describe('the load of events', () => {
  const [load] = events.loads;
  const open = (url: string) =>
    load?.open?.({ name: '', url, authorization, pid: 0 }, { signal } as Lab);

  it('counts events and how long they were under way, and callers whose stream has ended', async () => {
    const { url, server } = await startServer();
    const held = await open(url);
    const { units, failed, p50Us } = (await held?.run?.(0.1)) ?? { units: 0, failed: 1, p50Us: 0 };
    expect(failed).toBe(0);
    expect(units).toBeGreaterThan(1000);
    expect(p50Us).toBeGreaterThan(0);
    expect(p50Us).toBeLessThan(500_000);
    server.closeAllConnections();
    await eventually(() => expect(held?.closed?.()).toBe(1000));
    held?.release?.();
  });
});

describe('echoMessages', () => {
  it('exchanges messages over several WebSockets, and counts those of another size as failed', async () => {
    const { url, server } = await startServer();
    const sockets = new WebSocketServer({ server });
    let messages = 0;
    sockets.on('connection', (socket, request) => {
      expect(request.headers.authorization).toBe(authorization);
      socket.on('message', (data) => socket.send((messages += 1) === 5 ? 'other' : data));
    });
    const load = { url, authorization, bytes: 64, messages: 10, connections: 2, signal };
    expect(await echoMessages(load)).toMatchObject({ units: 10, failed: 1 });
  });

  it('ends with the run, also if no message comes back', async () => {
    const { url, server } = await startServer();
    const run = new AbortController();
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.once('message', () => run.abort(new Error('interrupted')));
    });
    const { signal: ended } = run;
    const load = { url, authorization, bytes: 64, messages: 10, connections: 2, signal: ended };
    await expect(echoMessages(load)).rejects.toThrow('interrupted');
  });
});
