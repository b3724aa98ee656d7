import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import { lookup } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { eventually } from '@gateway/shared/test/eventually';
import type { ClientRequest } from '../../exchange.ts';
import { connect } from '../../sockets/connect.ts';
import { Http2Client } from './client.ts';
import type { Http2ClientConnection } from './connection.ts';

let server: Http2Server;
let client: Http2Client;
beforeEach(async () => {
  client = new Http2Client({ clock: systemClock, maxWindowBytes: 64 * 1024 * 1024 });
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.setHeader('x-method', request.method);
      response.end(Buffer.concat(parts));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  client.destroy();
  server.close();
});

function open(): Promise<Http2ClientConnection> {
  const { port } = server.address() as AddressInfo;
  const origin = new URL(`http://127.0.0.1:${port}`);
  return new Promise((resolve, reject) => {
    connect({ origin, timeoutMs: 5000, lookup, clock: systemClock }, (...[connected]) => {
      if (connected === undefined) reject(new Error('not connected'));
      else {
        resolve(
          client.open(connected, {
            host: 'a.test',
            freed: () => undefined,
            closed: () => undefined,
            internalError: (error) => {
              throw error;
            },
          }),
        );
      }
    });
  });
}

const GET: ClientRequest = {
  method: 'GET',
  path: '/',
  fields: [],
  body: null,
  contentLength: undefined,
};

function send(
  connection: Http2ClientConnection,
  request: Partial<ClientRequest>,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  return new Promise((resolve) => {
    connection.carry(
      { ...GET, ...request },
      {
        head: (head, last) => {
          seen.push(head.status, ...head.fields.slice(0, 2));
          if (last) resolve(seen);
        },
        data: (bytes, last) => {
          seen.push(bytes.length);
          if (last) resolve(seen);
        },
        delivered: () => undefined,
        failed: (why, may) => {
          seen.push(why, may);
          resolve(seen);
        },
      },
    );
  });
}

describe('a connection to an HTTP/2 server', () => {
  it('carries several exchanges at a time', async () => {
    const connection = await open();
    const posts = Array.from({ length: 50 }, (_none, index) =>
      send(connection, { method: 'POST', body: 'x'.repeat(index * 100 + 1) }),
    );
    const get = send(connection, {});
    expect(connection.free).toBe(49);
    const all = await Promise.all(posts);
    expect(await get).toEqual([200, 'x-method', 'GET', 0].slice(0, (await get).length));
    for (const [index, one] of all.entries()) {
      expect(one.slice(0, 3)).toEqual([200, 'x-method', 'POST']);
      const bytes = one.slice(3).reduce((sum: number, part) => sum + (part as number), 0);
      expect(bytes).toBe(index * 100 + 1);
    }
    await eventually(() => expect(connection.free).toBe(100));
  });
});
