import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { onClosed, serveEachTest, sink } from '../../../test/http1-world.ts';
import type { BodySource, End } from '../../exchange.ts';
import { sendBytes } from '../client/request-writer.ts';
import type { Http1Exchange } from './exchange.ts';

const opened = closeAfterEach();
const world = serveEachTest();
const REQUEST = 'GET / HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n';
const HEAD = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: chat\r\n';

/** Sends a request to switch protocols, and these bytes at once after it. */
async function request(early = '') {
  const arrived = new Promise<Http1Exchange>((resolve) => (world.onExchange = resolve));
  const client = await world.open(true);
  client.send(REQUEST + early);
  const exchange = await arrived;
  const ends: End[] = [];
  onClosed(exchange, (end) => void ends.push(end));
  return { client, exchange, ends };
}

describe('an exchange that has switched protocols', () => {
  it('passes bytes both ways, those that arrived early first', async () => {
    const { client, exchange } = await request('GET early');
    exchange.respond(101, '', ['X-Kept', '1', 'Content-Length', '5', 'Connection', 'close'], false);
    let text = '';
    exchange.body.start(sink({ data: (bytes) => void (text += bytes.toString('latin1')) }));
    client.send(' and late');
    await eventually(() => expect(text).toBe('GET early and late'));
    exchange.send('to the caller', false);
    await eventually(() =>
      expect(client.receivedText).toBe(`${HEAD}X-Kept: 1\r\n\r\nto the caller`),
    );
  });

  it('passes on the end of the caller, and closes after its own', async () => {
    const { client, exchange, ends } = await request();
    exchange.respond(101, '', [], false);
    let isLast = false;
    exchange.body.start(sink({ data: (_bytes, last) => (isLast = last) }));
    client.socket.end('bye');
    await eventually(() => expect(isLast).toBe(true));
    await eventually(() => expect(ends).toEqual(['complete']));
    await eventually(() => expect(client.ended).toBe(true));
  });

  it('holds a caller back while nobody takes its bytes', async () => {
    const { client, exchange } = await request();
    exchange.respond(101, '', [], false);
    let bytes = 0;
    exchange.body.start(sink({ data: (part) => void (bytes += part.length) }));
    exchange.body.pause();
    const total = 16 * 1024 * 1024;
    const hasSent = new Promise((resolve) => client.socket.write(Buffer.alloc(total), resolve));
    await eventually(() => expect(client.socket.writableLength).toBeGreaterThan(0));
    expect(bytes).toBe(0);
    exchange.body.resume();
    await hasSent;
    await eventually(() => expect(bytes).toBe(total));
  });

  it.each([
    ['complete', true],
    ['peer_left', false],
  ])('ends as %s if its head was taken by the system: %s', async (end, isTaken) => {
    const { client, exchange, ends } = await request();
    const { socket } = exchange.connection;
    if (!isTaken) socket._write = () => undefined;
    exchange.respond(101, '', [], false);
    if (isTaken) await eventually(() => expect(client.receivedText).toContain('101'));
    client.socket.resetAndDestroy();
    await eventually(() => expect(ends).toEqual([end]));
  });
});

it('sends bytes that are not HTTP as they are, and closes its side after them', async () => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  opened(server);
  let text = '';
  server.on('connection', (accepted) => {
    accepted.setEncoding('latin1').on('data', (part: string) => (text += part));
    accepted.once('end', () => accepted.end('answer'));
  });
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const source = {
    ended: undefined,
    start(to) {
      to.data('one', false);
      to.data(Buffer.from('two'), false);
      to.data('', true);
    },
  } as Partial<BodySource>;
  sendBytes(socket, source as BodySource);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect([text, answer.toString()]).toEqual(['onetwo', 'answer']);
});
