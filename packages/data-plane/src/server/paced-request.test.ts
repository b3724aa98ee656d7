import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/testing/eventually';
import { PacedRequest } from './paced-request.ts';

let server: Server;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

async function start(onRequest: (request: IncomingMessage) => void): Promise<Socket> {
  server = createServer({ IncomingMessage: PacedRequest }, (request, response) => {
    onRequest(request);
    request.once('end', () => response.end('over'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  clients.push(client);
  client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  return client;
}

function inChunks(text: string, size: number): string {
  const chunks = text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}

describe('the body of a request', () => {
  it.each([1, 7, 600, 5000])('arrives whole and in order in chunks of %i', async (size) => {
    const sent = Array.from({ length: 20_000 }, (_, index) => index % 10).join('');
    let received = '';
    let events = 0;
    const client = await start((request) => {
      request.on('data', (chunk: Buffer) => {
        events += 1;
        received += chunk.toString('latin1');
      });
    });
    let answer = '';
    client.on('data', (bytes: Buffer) => (answer += bytes.toString('latin1')));
    client.write(`${inChunks(sent, size)}0\r\n\r\n`);
    await eventually(() => expect(answer).toContain('over'));
    expect(received).toBe(sent);
    expect(events).toBeLessThan(2000);
  });

  it('holds little memory in chunks of one byte while nobody reads it', async () => {
    let waiting: IncomingMessage | undefined;
    const client = await start((request) => void (waiting = request));
    client.write(inChunks('x'.repeat(200_000), 1));
    await eventually(() => expect(waiting?.readableLength).toBeGreaterThan(0));
    const settled = () => waiting?.readableLength;
    let before = -1;
    await eventually(
      () => {
        const now = settled() ?? 0;
        const same = now === before;
        before = now;
        expect(same).toBe(true);
      },
      { intervalMs: 600 },
    );
    expect(before).toBeLessThan(128 * 1024);
  });

  it('goes on where a connection carries one request after the other', async () => {
    const bodies: string[] = [];
    const client = await start((request) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      request.on('end', () => void bodies.push(body));
    });
    const body = `${inChunks('y'.repeat(3000), 1)}0\r\n\r\n`;
    client.write(body);
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
    await eventually(() => expect(bodies.map((one) => one.length)).toEqual([3000, 3000]));
  });
});
