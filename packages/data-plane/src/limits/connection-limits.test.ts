import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { eventually } from '@gateway/shared/test/eventually';
import { limitConnections } from './connection-limits.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

let server: Server;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
});

async function start(maxConnections: number, perAddress: number, trusted: readonly string[] = []) {
  const refused: string[] = [];
  let served = 0;
  const http = createHttpServer((_request, response) => void response.end('ok'));
  const limits = {
    maxConnections,
    maxConnectionsPerAddress: perAddress,
    trustedProxies: parseAddressRanges(trusted),
  };
  const { accept, open } = limitConnections(
    limits,
    (reason) => void refused.push(reason),
    (socket) => {
      served += 1;
      http.emit('connection', socket);
    },
  );
  server = createServer(accept);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { refused, open, served: () => served };
}

/** All of 127.0.0.0/8 is this machine, so each test may use any number of addresses. */
function from(localAddress: string): Socket {
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', localAddress });
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

async function hold(localAddress: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) await once(from(localAddress), 'connect');
}

async function ask(localAddress: string): Promise<string> {
  const client = from(localAddress);
  client.write(GET);
  return text(client).catch(() => '');
}

describe('the connections of callers', () => {
  it('are limited per address, and other addresses are still served', async () => {
    const { refused, open, served } = await start(100, 3);
    await hold('127.0.0.2', 3);
    expect(await ask('127.0.0.2')).toBe('');
    expect(refused).toEqual(['too_many_of_address']);
    // Nothing was made for the refused connection.
    expect(served()).toBe(3);
    expect(await ask('127.0.0.3')).toContain('200 OK');
    expect(open()).toBe(3);
  });

  it('free their place when they close', async () => {
    const { open } = await start(100, 2);
    await hold('127.0.0.2', 2);
    clients[0]?.destroy();
    await eventually(() => expect(open()).toBe(1));
    expect(await ask('127.0.0.2')).toContain('200 OK');
    for (const client of clients) client.destroy();
    await eventually(() => expect(open()).toBe(0));
  });

  it('are not limited per address for a trusted proxy, only in total', async () => {
    const { refused } = await start(5, 2, ['127.0.0.2']);
    await hold('127.0.0.2', 5);
    expect(await ask('127.0.0.2')).toBe('');
    expect(refused).toEqual(['too_many']);
  });
});
