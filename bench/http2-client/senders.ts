import { lookup } from 'node:dns';
import { connect as connectNode } from 'node:http2';
import type { ClientHandler, ClientRequest } from '@gateway/http/exchange';
import { connect } from '@gateway/http/sockets/connect';
import { Http2Client } from '@gateway/http/http2/client/client';
import type { Http2ClientConnection } from '@gateway/http/http2/client/connection';
import { systemClock } from '@gateway/shared/clock';

/** Sends a request, and calls `done` when its whole response has arrived. */
export type Send = (done: () => void) => void;

export type ClientName = 'gateway' | 'node:http2';

const PATH = '/v1/orders?page=2';
/** What the gateway sends of a request of a browser. */
const FIELDS = {
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
  'accept-language': 'en-GB,en;q=0.9',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:139.0) Gecko/20100101 Firefox/139.0',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  'x-request-id': 'req_0123456789abcdef0123456789abcdef',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};

/** Opens a connection, and returns how a request is sent on it. `body` is that of each request; empty: a GET. */
export async function openSender(client: ClientName, port: number, body: string): Promise<Send> {
  return client === 'gateway' ? openGateway(port, body) : openNode(port, body);
}

async function openGateway(port: number, body: string): Promise<Send> {
  const client = new Http2Client({
    clock: systemClock,
    // It has no request while the other client has its turn.
    limits: { keepAliveTimeoutMs: 600_000 },
    maxWindowBytes: 64 * 1024 * 1024,
  });
  const origin = new URL(`http://127.0.0.1:${port}`);
  const connection = await new Promise<Http2ClientConnection>((resolve, reject) => {
    connect({ origin, timeoutMs: 5000, lookup, clock: systemClock }, (...[connected]) => {
      if (connected === undefined) {
        reject(new Error('not connected'));
        return;
      }
      const owner = {
        host: origin.host,
        freed: () => undefined,
        closed: () => undefined,
        internalError(error: unknown) {
          throw error;
        },
      };
      resolve(client.open(connected, owner));
    });
  });
  const request: ClientRequest = {
    method: body === '' ? 'GET' : 'POST',
    path: PATH,
    fields: Object.entries(FIELDS).flat(),
    body: body === '' ? null : body,
    contentLength: undefined,
  };
  return (done) => {
    const handler: ClientHandler = {
      head: () => undefined,
      data: (_bytes, last) => {
        if (last) done();
      },
      delivered: () => undefined,
      failed(why) {
        throw new Error(why);
      },
    };
    connection.carry(request, handler);
  };
}

async function openNode(port: number, body: string): Promise<Send> {
  const session = connectNode(`http://127.0.0.1:${port}`);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  const head = { ':method': body === '' ? 'GET' : 'POST', ':path': PATH, ...FIELDS };
  return (done) => {
    const stream = session.request(head, { endStream: body === '' });
    stream.on('data', () => undefined).on('end', done);
    if (body !== '') stream.end(body, 'latin1');
  };
}
