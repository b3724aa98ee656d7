import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import { READ_BUFFER } from '../message/read-buffer.ts';
import { readDirectly } from './direct-reads.ts';
import type { ReadSocket } from './read-socket.ts';

let server: Server;
let caller: Socket;

afterEach(() => {
  caller.destroy();
  server.close();
});

/** A connection whose accepted end is read directly. */
async function open(): Promise<ReadSocket & { readonly accepted: Socket }> {
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const read = new Promise<ReadSocket & { accepted: Socket }>((resolve) => {
    server.once('connection', (accepted: Socket) => {
      resolve({ ...readDirectly(accepted), accepted });
    });
  });
  caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  caller.on('error', () => undefined);
  return read;
}

/** Collects the bytes that arrive from now on. */
function gather({ readBy }: ReadSocket): {
  readonly text: () => string;
  readonly views: boolean[];
} {
  let all = '';
  const views: boolean[] = [];
  readBy((bytes) => {
    all += bytes.toString('latin1');
    views.push(bytes.buffer === READ_BUFFER.buffer);
  });
  return { text: () => all, views };
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

test('received bytes are in the read buffer, and a response can be sent', async () => {
  const read = await open();
  const got = gather(read);
  caller.write('question');
  await eventually(() => expect(got.text()).toBe('question'));
  expect(got.views).toEqual([true]);
  expect(read.address).toBe('127.0.0.1');
  expect(read.socket.bytesRead).toBe(8);
  const answer = once(caller, 'data');
  read.socket.write('answer');
  expect(String((await answer)[0])).toBe('answer');
});

test('a paused connection is not read, and loses nothing', async () => {
  const read = await open();
  const got = gather(read);
  caller.write('a');
  await eventually(() => expect(got.text()).toBe('a'));
  read.socket.pause();
  // More than the buffers of both ends can hold, so that the caller must wait.
  const much = 'b'.repeat(32 * 1024 * 1024);
  expect(caller.write(much)).toBe(false);
  await eventually(() => expect(caller.bytesWritten - caller.writableLength).toBeGreaterThan(0));
  expect(got.text()).toBe('a');
  read.socket.resume();
  await eventually(() => expect(got.text().length).toBe(1 + much.length));
});

test('the end of the caller and of the connection are events, and the server does not count it any more', async () => {
  const read = await open();
  gather(read);
  const ended = once(read.socket, 'end');
  const closed = once(read.accepted, 'close');
  expect(await connections()).toBe(1);
  caller.end();
  await ended;
  await closed;
  expect(read.socket.destroyed).toBe(true);
  expect(await connections()).toBe(0);
  // `close` would wait for every connection that the server counts.
  await new Promise((resolve) => server.close(resolve));
});

test('a reset is an error of the socket', async () => {
  const read = await open();
  gather(read);
  const failed = once(read.socket, 'error');
  caller.resetAndDestroy();
  expect(await failed).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
});

test('the address of the caller is known even if the connection is reset before it is read', async () => {
  const read = await open();
  const address = new Promise((resolve) => {
    read.readBy(() => {
      resolve(read.address);
    });
  });
  read.socket.on('error', () => undefined);
  caller.write('question');
  caller.resetAndDestroy();
  expect(await address).toBe('127.0.0.1');
});

test('a closed connection stays unchanged', async () => {
  server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await accepted) as [Socket];
  socket.destroy();
  expect(readDirectly(socket).socket).toBe(socket);
});
