import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
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
  const caller = opened(connect({ port, host: '127.0.0.1', rejectUnauthorized: false }));
  caller.on('error', () => undefined);
  return { ...(await read), caller };
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

  it('without a reader is read as a stream, with back-pressure', async () => {
    const read = await open(before);
    const got = gather(read);
    read.caller.write('first');
    await eventually(() => expect(got.text()).toBe('first'));
    read.readBy(undefined);
    const much = 'c'.repeat(4 * 1024 * 1024);
    read.caller.end(much);
    read.socket.read(0);
    await eventually(() => expect(read.socket.readableLength).toBeGreaterThan(0));
    expect(read.socket.readableLength).toBeLessThan(1024 * 1024);
    expect((await text(read.socket)) === much).toBe(true);
    expect(got.text()).toBe('first');
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
});
