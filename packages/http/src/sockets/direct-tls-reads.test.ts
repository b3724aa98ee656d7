import { once } from 'node:events';
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
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
let server: Server;

afterEach(() => {
  server.close();
});

interface Connection extends ReadSocket {
  readonly accepted: TLSSocket;
  readonly caller: TLSSocket;
  /** What carries the bytes of the caller's TLS. */
  readonly raw: Socket;
}

/** A TLS connection, whose accepted end is read by `read`. */
async function open(before: (accepted: TLSSocket) => void = () => undefined): Promise<Connection> {
  server = createServer({ cert, key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const read = new Promise<ReadSocket & { accepted: TLSSocket }>((resolve) => {
    server.once('secureConnection', (accepted: TLSSocket) => {
      before(accepted);
      accepted.on('error', () => undefined);
      resolve({ ...readDirectly(accepted), accepted });
    });
  });
  const { port } = server.address() as AddressInfo;
  const raw = opened(connectPlain(port, '127.0.0.1'));
  const caller = opened(connect({ socket: raw, rejectUnauthorized: false }));
  caller.on('error', () => undefined);
  return { ...(await read), caller, raw };
}

/** Makes the handle of a socket one of a Node that cannot read into a buffer of ours. */
function withoutBuffer(accepted: TLSSocket): void {
  const { _handle: handle } = accepted as TLSSocket & { _handle: { useUserBuffer?: unknown } };
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

it('this version of Node can read TLS directly', async () => {
  const read = await open();
  const got = gather(read);
  read.caller.write('question');
  await eventually(() => expect(got.text()).toBe('question'));
  expect(got.views).toEqual([true]);
});

it('a connection is read as a stream if Node cannot read it directly', async () => {
  const read = await open(withoutBuffer);
  const got = gather(read);
  read.caller.write('question');
  await eventually(() => expect(got.text()).toBe('question'));
  expect(got.views).toEqual([false]);
});

it('bytes that have arrived before are not lost', async () => {
  const first = new Promise<ReadSocket>((resolve) => {
    void open((accepted) => {
      // A stream with bytes that nobody has taken.
      accepted.unshift(Buffer.from('early '));
    }).then((read) => {
      read.caller.write('late');
      resolve(read);
    });
  });
  const got = gather(await first);
  await eventually(() => expect(got.text()).toBe('early late'));
});

describe.each<[string, ((accepted: TLSSocket) => void) | undefined]>([
  ['read directly', undefined],
  ['read as a stream', withoutBuffer],
])('a TLS connection that is %s', (_how, before) => {
  it('passes on all bytes in their order, and a response can be sent', async () => {
    const read = await open(before);
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
    const read = await open(before);
    const got = gather(read);
    read.caller.write('a');
    await eventually(() => expect(got.text()).toBe('a'));
    read.socket.pause();
    const much = 'b'.repeat(16 * 1024 * 1024);
    expect(read.caller.write(much)).toBe(false);
    await eventually(() => expect(read.caller.bytesWritten).toBeGreaterThan(100_000));
    expect(got.text().length).toBeLessThan(much.length);
    read.socket.resume();
    await eventually(() => expect(got.text().length).toBe(1 + much.length));
  });

  it('tells that the caller has ended, after all that it has sent', async () => {
    const read = await open(before);
    const got = gather(read);
    let atEnd: string | undefined;
    read.socket.once('end', () => (atEnd = got.text()));
    const closed = once(read.socket, 'close');
    read.caller.end('last words');
    await closed;
    expect([atEnd, got.text()]).toEqual(['last words', 'last words']);
  });

  it('fails when the caller resets it, after all that has arrived', async () => {
    const read = await open(before);
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
    const read = await open(before);
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
    const read = await open(before);
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
