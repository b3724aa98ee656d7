import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { WebSocketServer } from 'ws';
import { sendEvents } from '../upstream/send-events.ts';
import { echoMessages } from './echo-messages.ts';
import { EventCallers } from './event-callers.ts';
import { openIdleConnections } from './idle-connections.ts';

const opened = closeAfterEach();
const { signal } = new AbortController();
const authorization = 'Bearer token';

async function startServer(status = 200) {
  const server = createServer((request, response) => {
    if (request.headers.authorization !== authorization) response.writeHead(401).end();
    else if (request.url === '/events') sendEvents(response);
    else response.writeHead(status).end('ok');
  });
  const { url } = opened(await listen(server));
  const connections = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { url, server, connections };
}

describe('openIdleConnections', () => {
  it('keeps connections open that had a request', async () => {
    const { url, connections } = await startServer();
    opened(await openIdleConnections({ url, authorization, count: 120, signal }));
    expect(await connections()).toBe(120);
  });

  it('rejects a response other than 200', async () => {
    const { url } = await startServer(503);
    const opening = openIdleConnections({ url, authorization, count: 2, signal });
    await expect(opening).rejects.toThrow('503');
  });
});

describe('EventCallers', () => {
  it('counts events and how long they were under way', async () => {
    const { url } = await startServer();
    const callers = opened(
      await EventCallers.open({ url: `${url}/events`, authorization, signal }, 20),
    );
    const { units, failed, p50Us } = await callers.receive(0.5);
    expect(failed).toBe(0);
    expect(units).toBeGreaterThan(20);
    expect(p50Us).toBeGreaterThan(0);
    expect(p50Us).toBeLessThan(500_000);
  });

  it('counts callers whose stream has ended as failed', async () => {
    const { url, server } = await startServer();
    const callers = opened(
      await EventCallers.open({ url: `${url}/events`, authorization, signal }, 3),
    );
    server.closeAllConnections();
    expect(await callers.receive(0.1)).toMatchObject({ failed: 3 });
  });

  it('rejects a response other than 200', async () => {
    const { url } = await startServer();
    const opening = EventCallers.open({ url: `${url}/events`, authorization: '', signal }, 1);
    await expect(opening).rejects.toThrow('401');
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
});
