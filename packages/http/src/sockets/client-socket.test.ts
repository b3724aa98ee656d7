import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually } from '@gateway/shared/test/eventually';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { ClientSocket } from './client-socket.ts';

const opened = closeAfterEach();
const ANSWER_BYTES = 40_000;
const afterTurns = async (turns: number) => {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((go) => setImmediate(go));
};

/** A paused connection to an upstream that sends a response, and resets at the first byte that it receives. */
async function setUp() {
  const upstream = opened(
    await startRawUpstream((socket) => {
      socket.write(Buffer.alloc(ANSWER_BYTES));
      socket.once('data', () => socket.resetAndDestroy());
    }),
  );
  const told = { bytes: 0, ended: false, error: '', closed: false };
  const onread = {
    buffer: Buffer.alloc(65_536),
    callback: (bytes: number) => {
      told.bytes += bytes;
      return true;
    },
  };
  const address = { host: '127.0.0.1', port: upstream.port };
  const socket = opened(new ClientSocket({ onread }).connect(address));
  socket.once('connect', () => socket.pause());
  socket.on('end', () => (told.ended = true));
  socket.on('error', (error: NodeJS.ErrnoException) => (told.error = error.syscall ?? ''));
  socket.on('close', () => (told.closed = true));
  await once(socket, 'connect');
  return { socket, told };
}

/** Writes until a write fails. */
async function failToWrite(socket: Socket): Promise<void> {
  let failed = false;
  await eventually(() => {
    socket.write('x', (error) => (failed ||= Boolean(error)));
    expect(failed).toBe(true);
  });
}

describe('a client connection after a failed write', () => {
  it('keeps received bytes while it is paused, and then ends', async () => {
    const { socket, told } = await setUp();
    await failToWrite(socket);
    await afterTurns(10);
    expect(told).toEqual({ bytes: 0, ended: false, error: '', closed: false });
    socket.resume();
    await eventually(() => expect(told.closed).toBe(true));
    // Without an `end` event: a body that lasts until the connection ends must not look complete.
    expect(told).toEqual({ bytes: ANSWER_BYTES, ended: false, error: 'write', closed: true });
  });

  it('accepts no more bytes, and can be destroyed at once while it is paused', async () => {
    const { socket, told } = await setUp();
    await failToWrite(socket);
    expect([socket.writable, told.closed]).toEqual([false, false]);
    socket.destroy();
    await eventually(() => expect(told.closed).toBe(true));
    expect(told).toMatchObject({ bytes: 0, error: '' });
  });
});
