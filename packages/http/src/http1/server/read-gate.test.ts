import { createRequestSyntax } from '../../message/request-head.ts';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { systemClock } from '@gateway/shared/clock';
import { ServerConnection } from './connection.ts';
import type { TakeBytes } from '../../message/read-buffer.ts';
import { UnreadBytes } from './read-gate.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

describe('bytes that are not read yet', () => {
  it('are the added bytes without the skipped ones', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 700 }), skip: fc.constant(0) }),
      fc.record({ add: fc.constant(0), skip: fc.integer({ min: 1, max: 900 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const unread = new UnreadBytes();
        let expected = Buffer.alloc(0);
        let next = 0;
        for (const { add, skip } of steps) {
          if (add > 0) {
            const bytes = Buffer.from(Array.from({ length: add }, () => next++));
            unread.add(bytes);
            expected = Buffer.concat([expected, bytes]);
          }
          const skipped = Math.min(skip, expected.length);
          unread.skip(skipped);
          expected = expected.subarray(skipped);
          expect(unread.length).toBe(expected.length);
          expect(unread.view.equals(expected)).toBe(true);
        }
      }),
    );
  });

  it('need memory in proportion to their number if they arrive one by one', () => {
    let take: TakeBytes = () => undefined;
    let answered = 0;
    const socket = new Socket();
    const connection = new ServerConnection(
      { socket, address: '', readBy: (next) => void (take = next) },
      {
        clock: systemClock,
        maxHeaderBytes: 1000,
        maxHeaderLines: 100,
        lingerTimeoutMs: 300,
        cut: () => undefined,
        onExchange: () => void (answered += 1),
        internalError: () => undefined,
        refused: () => undefined,
        refusal: () => ({ status: 400, fields: [], body: '' }),
      },
      { syntax: createRequestSyntax(), date: () => 'now' },
    );
    let allocatedBytes = 0;
    const concat = Buffer.concat.bind(Buffer);
    const allocUnsafeSlow = Buffer.allocUnsafeSlow.bind(Buffer);
    jest.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
      const joined = concat(list, length);
      allocatedBytes += joined.length;
      return joined;
    });
    jest.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation((size) => {
      allocatedBytes += size;
      return allocUnsafeSlow(size);
    });
    take(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
    const aheadBytes = 60_000;
    for (let sent = 0; sent < aheadBytes; sent += 1) take(Buffer.from('x'));
    expect({ busy: connection.busy, answered }).toEqual({ busy: true, answered: 1 });
    // Copies for each byte would be 1.8 GB.
    expect(allocatedBytes).toBeLessThan(8 * aheadBytes);
    socket.destroy();
  });
});
