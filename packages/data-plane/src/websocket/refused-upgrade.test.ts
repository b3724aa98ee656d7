import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { READ_BUFFER } from '@gateway/http/message/read-buffer';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { TimeAccount } from '../request/time-account.ts';
import { SocketSink } from './refused-upgrade.ts';

const opened = closeAfterEach();
const WAITING_BYTES = 8 * 1024 * 1024;
const BODY_BYTES = 30_000;

describe('the end of a response on the connection of an upgrade', () => {
  it('is sent unchanged although the next read overwrites it and the caller takes it later', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    const [socket] = await accepted;
    opened({
      close() {
        caller.destroy();
        socket.destroy();
        server.close();
      },
    });
    // More than the system takes, so that the body waits.
    socket.write(Buffer.alloc(WAITING_BYTES));
    const ctx = { responseBytes: 0, times: new TimeAccount(0) };
    const response = { cancel: () => undefined };
    const events = { ended: () => undefined, cut: () => undefined };
    const sink = new SocketSink(ctx as never, response as never, socket, manualClock(), events);
    READ_BUFFER.fill(7);
    sink.data(READ_BUFFER.subarray(0, BODY_BYTES), true);
    READ_BUFFER.fill(0xff);
    const parts: Buffer[] = [];
    caller.on('data', (part: Buffer) => void parts.push(part)).resume();
    await once(caller, 'end');
    const body = Buffer.concat(parts).subarray(WAITING_BYTES);
    expect(body.equals(Buffer.alloc(BODY_BYTES, 7))).toBe(true);
  });
});
