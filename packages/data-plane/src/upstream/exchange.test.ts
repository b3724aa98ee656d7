import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Exchange } from './exchange.ts';
import { READ_BUFFER } from '@gateway/http1/message/read-buffer';
import type { ClientConnection } from '@gateway/http1/client/connection';
import type { ResponseHead } from '@gateway/http1/message/response-head';

const HEAD: ResponseHead = {
  status: 200,
  statusText: 'OK',
  fields: [],
  framing: { kind: 'none' },
  keepAlive: true,
  keepAliveHintMs: undefined,
};

function setUp() {
  const clock = manualClock();
  let closed = 0;
  let ended = 0;
  const request = { method: 'GET', path: '/', fields: [], body: null, contentLength: undefined };
  const owner = { clock, idleTimeoutMs: 1000, ended: () => void (ended += 1) };
  const exchange = new Exchange(request, 100, owner);
  const connection = { destroy: () => void (closed += 1) } as unknown as ClientConnection;
  return {
    clock,
    exchange,
    connection,
    outcome: exchange.outcome,
    counts: () => ({ closed, ended }),
  };
}

describe('the timeout of an attempt', () => {
  it('accepts a response that had arrived when a blocked event loop continued', async () => {
    const { clock, exchange, connection, outcome, counts } = setUp();
    exchange.started(connection);
    clock.advance(8000);
    // The bytes that have arrived are read in the same turn of the event loop, after the timers.
    exchange.head(HEAD);
    exchange.end();
    expect(await outcome).toEqual({ response: exchange });
    await new Promise((resolve) => setImmediate(resolve));
    expect(counts()).toEqual({ closed: 0, ended: 1 });
  });

  it('ends an attempt without a response, and closes its connection', async () => {
    const { clock, exchange, connection, outcome, counts } = setUp();
    exchange.started(connection);
    clock.advance(100);
    expect(await outcome).toEqual({ error: { name: 'attempt_timeout', sent: true } });
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });

  it('ends an attempt that was not sent', async () => {
    const { clock, outcome, counts } = setUp();
    clock.advance(100);
    expect(counts()).toEqual({ closed: 0, ended: 1 });
    expect(await outcome).toEqual({ error: { name: 'attempt_timeout', sent: false } });
  });
});

describe('a body that arrives before its sink', () => {
  it.each([100, 20_000])('keeps %i bytes that the next read overwrites', (bytes) => {
    const { exchange, connection } = setUp();
    exchange.started(connection);
    exchange.head({ ...HEAD, framing: { kind: 'length', bytes } });
    READ_BUFFER.fill(1, 0, bytes);
    exchange.body(READ_BUFFER.subarray(0, bytes));
    READ_BUFFER.fill(2);
    exchange.end();
    const whole = exchange.attach({ data: () => true, end() {}, error() {} });
    const kept = whole?.chunks.map((chunk) => Buffer.from(chunk as string, 'latin1')) ?? [];
    expect(Buffer.concat(kept).equals(Buffer.alloc(bytes, 1))).toBe(true);
  });
});
