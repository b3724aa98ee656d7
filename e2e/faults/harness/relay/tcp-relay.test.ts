import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts';

const opened = closeAfterEach();

/** A relay to an echo server. */
async function startEcho(): Promise<TcpRelay> {
  const echo = opened(await startRawUpstream((socket) => void socket.pipe(socket)));
  return opened(await startTcpRelay(echo.port));
}

interface Caller {
  readonly socket: Socket;
  readonly heard: () => string;
  readonly closed: () => boolean;
}

function call(relay: TcpRelay): Caller {
  const socket = opened(connect({ port: relay.port, host: '127.0.0.1', noDelay: true }));
  let heard = '';
  let closed = false;
  socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  socket.on('close', () => (closed = true));
  return { socket, heard: () => heard, closed: () => closed };
}

const hears = ({ heard }: Caller, text: string) =>
  eventually(() => expect(heard()).toBe(text), { intervalMs: 2 });

describe('a TCP relay', () => {
  it('relays bytes both ways, and the end of either side', async () => {
    const caller = call(await startEcho());
    caller.socket.end('hello');
    await hears(caller, 'hello');
    await eventually(() => expect(caller.closed()).toBe(true));
  });

  it('delays every byte, each way, and keeps their order', async () => {
    const relay = await startEcho();
    const caller = call(relay);
    caller.socket.write('a');
    await hears(caller, 'a');
    relay.slow(100);
    const sentMs = performance.now();
    for (const letter of 'bcd') caller.socket.write(letter);
    await hears(caller, 'abcd');
    expect(performance.now() - sentMs).toBeGreaterThanOrEqual(199);
  });

  it('relays more than its buffer without losing a byte', async () => {
    const relay = await startEcho();
    relay.slow(20);
    const caller = call(relay);
    const size = 5 * 1024 * 1024;
    caller.socket.write(Buffer.alloc(size, 'x'));
    await eventually(() => expect(caller.heard().length).toBe(size));
  });

  it('drops all bytes silently as a black hole, and closes connections that lost some when it is repaired', async () => {
    const relay = await startEcho();
    const caller = call(relay);
    caller.socket.write('a');
    await hears(caller, 'a');
    relay.blackHole();
    caller.socket.write('b');
    const other = call(relay);
    await once(other.socket, 'connect');
    other.socket.write('c');
    await eventually(() => expect(relay.open).toBe(2));
    expect([caller.heard(), other.heard(), caller.closed()]).toEqual(['a', '', false]);
    await relay.heal();
    await eventually(() => expect([caller.closed(), other.closed()]).toEqual([true, true]));
    const later = call(relay);
    later.socket.write('d');
    await hears(later, 'd');
  });

  it('delivers after a stall what was sent during it', async () => {
    const relay = await startEcho();
    const caller = call(relay);
    caller.socket.write('a');
    await hears(caller, 'a');
    relay.stall();
    caller.socket.write('b');
    const other = call(relay);
    other.socket.write('c');
    await eventually(() => expect(relay.open).toBe(2));
    expect(caller.heard()).toBe('a');
    await relay.heal();
    await hears(caller, 'ab');
    await hears(other, 'c');
  });

  it('closes open connections and relays new ones', async () => {
    const relay = await startEcho();
    const caller = call(relay);
    caller.socket.write('a');
    await hears(caller, 'a');
    relay.cut();
    await eventually(() => expect(caller.closed()).toBe(true));
    const next = call(relay);
    next.socket.write('b');
    await hears(next, 'b');
  });

  it('refuses connections until it is repaired', async () => {
    const relay = await startEcho();
    const caller = call(relay);
    await once(caller.socket, 'connect');
    await relay.refuse();
    await eventually(() => expect(caller.closed()).toBe(true));
    const refused = connect({ port: relay.port, host: '127.0.0.1' });
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
    await relay.heal();
    const next = call(relay);
    next.socket.write('a');
    await hears(next, 'a');
  });
});
