import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { eventually } from '@gateway/shared/test/eventually';
import { READ_BUFFER } from './read-buffer.ts';
import { writeBody } from './message-writer.ts';

const opened = closeAfterEach();
const MIB = 1024 * 1024;
/** Sizes around the limits between the ways in which a part is written. */
const SIZES = [1, 1024, 1025, 16_384, 16_385, 32_768, 32_769, 40_000, 65_535, 65_536];

/** Two ends of a connection. What arrives is kept. */
async function pair() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [receiver] = await accepted;
  sender.on('error', () => undefined);
  receiver.on('error', () => undefined);
  opened({
    close() {
      sender.destroy();
      receiver.destroy();
      server.close();
    },
  });
  const parts: Buffer[] = [];
  receiver.on('data', (part: Buffer) => void parts.push(part));
  return { sender, receiver, received: () => Buffer.concat(parts) };
}

/**
 * Writes bytes of the read buffer, which are overwritten as soon as they were written, as the next read of any connection
 * does; or bytes that stay valid.
 */
function write(
  socket: Socket,
  { bytes, value, before = '', after = '', staysValid = false }: Written,
): boolean {
  if (staysValid) return writeBody(socket, Buffer.alloc(bytes, value), before, after);
  READ_BUFFER.fill(value, 0, bytes);
  const more = writeBody(socket, READ_BUFFER.subarray(0, bytes), before, after);
  READ_BUFFER.fill(0xff);
  return more;
}

interface Written {
  readonly bytes: number;
  readonly value: number;
  readonly before?: string;
  readonly after?: string;
  readonly staysValid?: boolean;
}

function expected(written: readonly Written[]): Buffer {
  return Buffer.concat(
    written.map(({ bytes, value, before = '', after = '' }) =>
      Buffer.concat([
        Buffer.from(before, 'latin1'),
        Buffer.alloc(bytes, value),
        Buffer.from(after, 'latin1'),
      ]),
    ),
  );
}

describe('writing a part of a body', () => {
  it('sends it unchanged, with the text around it, whatever its size', async () => {
    const text = fc.constantFrom('', '8000\r\n', '\u00ff'.repeat(5000));
    const part = fc.record({
      bytes: fc.oneof(fc.constantFrom(...SIZES), fc.integer({ min: 1, max: READ_BUFFER.length })),
      value: fc.nat(250),
      before: text,
      after: text,
      staysValid: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (written) => {
        const { sender, received } = await pair();
        for (const one of written) write(sender, one);
        const all = expected(written);
        await eventually(() => expect(received().length).toBe(all.length));
        expect(received().equals(all)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it('keeps what waits for slow receivers apart, also when one of them leaves', async () => {
    const pairs = [await pair(), await pair(), await pair()] as const;
    const [first, second, third] = pairs;
    const all = pairs.map(() => [] as Written[]);
    for (const { receiver } of pairs) receiver.pause();
    let count = 0;
    const fill = (index: number, waitingBytes: number) => {
      const sender = pairs[index]?.sender;
      if (sender === undefined) throw new Error('no such connection');
      while (sender.writableLength < waitingBytes) {
        const bytes = SIZES[count % SIZES.length] ?? 1;
        const written = { bytes, value: count % 251 };
        count += 1;
        write(sender, written);
        all[index]?.push(written);
      }
    };
    // More than the system takes.
    for (let waiting = MIB / 4; waiting <= MIB; waiting += MIB / 4) {
      for (const index of pairs.keys()) fill(index, waiting);
    }
    third.receiver.resetAndDestroy();
    first.receiver.resume();
    await eventually(() => expect(first.sender.writableLength).toBe(0));
    // Its buffers are used again while those of the second still wait.
    fill(0, 1);
    fill(1, 2 * MIB);
    second.receiver.resume();
    for (const [index, one] of [first, second].entries()) {
      const whole = expected(all[index] ?? []);
      await eventually(() => expect(one.received().length).toBe(whole.length));
      expect(one.received().equals(whole)).toBe(true);
    }
  });

  it('copies a short part that waits into memory of its own size', async () => {
    const { sender, receiver } = await pair();
    receiver.pause();
    while (sender.writableLength === 0) write(sender, { bytes: READ_BUFFER.length, value: 1 });
    const waiting = jest.spyOn(sender, 'write');
    for (const bytes of [1025, 1400, 16_384]) write(sender, { bytes, value: 2, before: '400\r\n' });
    const memory = waiting.mock.calls.map(([part]) => (part as Buffer).buffer.byteLength);
    expect(memory).toEqual([1025 + 5, 1400 + 5, 16_384 + 5]);
  });

  it('asks for more if the system took all of it, however large it was', async () => {
    const { sender } = await pair();
    // The system takes more at once after the first bytes have arrived.
    await eventually(() => {
      expect(write(sender, { bytes: READ_BUFFER.length, value: 1 })).toBe(true);
    });
  });

  it('asks for no more from a connection that is destroyed', async () => {
    const { sender } = await pair();
    sender.destroy();
    expect(write(sender, { bytes: READ_BUFFER.length, value: 1 })).toBe(false);
  });
});
