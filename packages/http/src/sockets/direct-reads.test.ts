import { once } from 'node:events';
import { connect as connectPlain, createServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@gateway/shared/clock';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { createHttp1Server } from '../http1/server/server.ts';
import { READ_BUFFER } from '../message/read-buffer.ts';
import { readDirectly } from './direct-reads.ts';
import type { ReadSocket } from './read-socket.ts';

const { certPem: cert, keyPem: key } = createTestAuthority('test').issue(['localhost']);
const opened = closeAfterEach();

interface Connection extends ReadSocket {
  readonly caller: Socket;
  /** What carries the bytes of the caller. */
  readonly raw: Socket;
  /** How many connections the server counts. */
  readonly connections: () => Promise<number>;
}

type Kind = 'plain' | 'TLS';

/** A connection whose accepted end is read by `read`. */
async function open(
  kind: Kind,
  before: (accepted: Socket) => void = () => undefined,
): Promise<Connection> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const read = new Promise<ReadSocket>((resolve) => {
    server.once('connection', (accepted: Socket) => {
      const isPlain = kind === 'plain';
      const socket = isPlain ? accepted : new TLSSocket(accepted, { isServer: true, cert, key });
      const take = () => {
        before(socket);
        resolve(readDirectly(socket));
      };
      socket.on('error', () => undefined);
      if (isPlain) take();
      else socket.once('secure', take);
    });
  });
  const raw = opened(connectPlain((server.address() as AddressInfo).port, '127.0.0.1'));
  raw.on('error', () => undefined);
  const caller =
    kind === 'plain' ? raw : opened(connect({ socket: raw, rejectUnauthorized: false }));
  caller.on('error', () => undefined);
  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  const accepted = await read;
  server.close();
  return { ...accepted, caller, raw, connections };
}

/** Makes the handle of a socket one of a Node that cannot read into a buffer of ours. */
function withoutBuffer(accepted: Socket): void {
  const { _handle: handle } = accepted as Socket & { _handle: { useUserBuffer?: unknown } };
  handle.useUserBuffer = undefined;
}

function gather({ readBy }: ReadSocket) {
  let all = '';
  const views: boolean[] = [];
  readBy((bytes) => {
    all += bytes.toString('latin1');
    views.push(bytes.buffer === READ_BUFFER.buffer);
  });
  return { text: () => all, views };
}

describe.each<Kind>(['plain', 'TLS'])('a %s connection', (kind) => {
  it.each([
    ['directly by this version of Node', undefined, true],
    ['as a stream by one that cannot read directly', withoutBuffer, false],
  ])('is read %s', async (_how, before, isDirect) => {
    const read = await open(kind, before);
    const got = gather(read);
    read.caller.write('question');
    await eventually(() => expect(got.text()).toBe('question'));
    expect(got.views).toEqual([isDirect]);
  });

  it('loses no bytes that have arrived before', async () => {
    // A stream with bytes that nobody has taken.
    const read = await open(kind, (accepted) => {
      accepted.unshift(Buffer.from('early '));
    });
    read.caller.write('late');
    const got = gather(read);
    await eventually(() => expect(got.text()).toBe('early late'));
  });

  it('that is closed stays unchanged', async () => {
    const read = await open(kind, (accepted) => accepted.destroy());
    expect(read.socket.destroyed).toBe(true);
  });

  it('has a known address even if it is reset before it is read', async () => {
    const read = await open(kind);
    const closed = new Promise((resolve) => read.socket.once('close', resolve));
    read.raw.resetAndDestroy();
    await closed;
    expect(read.address).toBe('127.0.0.1');
  });
});

const WAYS: [Kind, string, ((accepted: Socket) => void) | undefined][] = [
  ['plain', 'directly', undefined],
  ['plain', 'as a stream', withoutBuffer],
  ['TLS', 'directly', undefined],
  ['TLS', 'as a stream', withoutBuffer],
];

describe.each(WAYS)('a %s connection that is read %s', (kind, _how, before) => {
  it('passes on all bytes in their order, and a response can be sent', async () => {
    const read = await open(kind, before);
    const got = gather(read);
    const much = Array.from({ length: 300_000 }, (_none, index) => String(index)).join();
    read.caller.write(much);
    await eventually(() => expect(got.text()).toHaveLength(much.length));
    expect(got.text() === much).toBe(true);
    expect(read.socket.remoteAddress).toBe('127.0.0.1');
    const answer = once(read.caller, 'data');
    read.socket.write('answer');
    expect(String((await answer)[0])).toBe('answer');
  });

  it('is not read while it is paused, and loses nothing', async () => {
    const read = await open(kind, before);
    const got = gather(read);
    read.caller.write('a');
    await eventually(() => expect(got.text()).toBe('a'));
    read.socket.pause();
    const much = 'b'.repeat(16 * 1024 * 1024);
    expect(read.caller.write(much)).toBe(false);
    await eventually(() => expect(read.raw.bytesWritten).toBeGreaterThan(100_000));
    expect(got.text()).toBe('a');
    read.socket.resume();
    await eventually(() => expect(got.text().length).toBe(1 + much.length));
  });

  it('tells that the caller has ended, after all that it has sent', async () => {
    const read = await open(kind, before);
    const got = gather(read);
    let atEnd: string | undefined;
    read.socket.once('end', () => (atEnd = got.text()));
    const closed = once(read.socket, 'close');
    read.caller.end('last words');
    expect(await read.connections()).toBe(1);
    await closed;
    expect([atEnd, got.text()]).toEqual(['last words', 'last words']);
    expect(await read.connections()).toBe(0);
  });

  it('fails when the caller resets it, after all that has arrived', async () => {
    const read = await open(kind, before);
    const got = gather(read);
    read.caller.write('question');
    await eventually(() => expect(got.text()).toBe('question'));
    const errors: unknown[] = [];
    read.socket.on('error', (error: NodeJS.ErrnoException) => void errors.push(error.code));
    const closed = new Promise((resolve) => read.socket.once('close', resolve));
    read.raw.resetAndDestroy();
    await closed;
    expect(errors).toEqual(['ECONNRESET']);
  });

  it('passes on nothing after it was destroyed', async () => {
    const read = await open(kind, before);
    const sizes: number[] = [];
    read.readBy((bytes) => {
      sizes.push(bytes.length);
      read.socket.destroy();
    });
    const closed = once(read.socket, 'close');
    // Many records, of which one read takes several.
    read.caller.write('x'.repeat(200_000));
    await closed;
    expect(sizes).toHaveLength(1);
  });

  it('serves HTTP/1.1', async () => {
    const read = await open(kind, before);
    const http1 = createHttp1Server({
      clock: systemClock,
      maxHeaderBytes: 1000,
      maxHeaderLines: 100,
      lingerTimeoutMs: 300,
      cut: () => undefined,
      onExchange(exchange) {
        exchange.handler = { writable: () => undefined, closed: () => undefined };
        let body = '';
        exchange.body.start({
          data(bytes, last) {
            body += bytes.toString('latin1');
            if (!last) return;
            exchange.respond(200, 'OK', ['Content-Length', String(body.length)], false);
            exchange.send(body, true);
          },
          failed: () => undefined,
        });
      },
      internalError: (error) => {
        throw error;
      },
      refused: () => undefined,
      refusal: () => ({ status: 400, fields: ['Content-Length', '0'], body: '' }),
    });
    http1.accept(read);
    const large = 'y'.repeat(100_000);
    read.caller.write(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${large.length}\r\n\r\n${large}`,
    );
    read.caller.write(
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nend\r\n0\r\n\r\n',
    );
    const answers = await text(read.caller);
    http1.destroy();
    expect(answers.split('HTTP/1.1 200 OK')).toHaveLength(3);
    expect([answers.includes(large), answers.endsWith('\r\n\r\nend')]).toEqual([true, true]);
  });
});
