import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { Exchange } from './exchange.ts';
import { toBuffer } from '@gateway/http1/message/body-bytes';
import { READ_BUFFER } from '@gateway/http1/message/read-buffer';
import type { WholeBody } from '../request/upstream-response.ts';
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
  const owner = {
    clock,
    idleTimeoutMs: 1000,
    ended: () => void (ended += 1),
    internalError: () => undefined,
  };
  const exchange = new Exchange(request, 100, owner);
  const connection = {
    destroy: () => void (closed += 1),
    pause() {},
    guard: { run: (run: () => void) => run() },
  } as unknown as ClientConnection;
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
  const sink = { data: () => true, end() {}, error() {} };

  /** An exchange that has just read the head and these bytes of the body. */
  function read(...parts: readonly number[]) {
    const { exchange, connection } = setUp();
    exchange.started(connection);
    const bytes = parts.reduce((sum, part) => sum + part, 0);
    exchange.head({ ...HEAD, framing: { kind: 'length', bytes } });
    READ_BUFFER.fill(1, 0, bytes);
    let at = 0;
    for (const part of parts) exchange.body(READ_BUFFER.subarray(at, (at += part)));
    exchange.end();
    return exchange;
  }
  const bytesOf = (whole: WholeBody | undefined) =>
    Buffer.concat(whole?.chunks.map((chunk) => toBuffer(chunk)) ?? []);

  it.each([[100], [20_000], [10, 2000, 30_000]])(
    'keeps %i bytes that the next read overwrites',
    async (...parts) => {
      const exchange = read(...parts);
      // A read has a turn of the event loop for itself.
      await turn();
      READ_BUFFER.fill(2);
      const bytes = parts.reduce((sum, part) => sum + part, 0);
      expect(bytesOf(exchange.attach(sink)).equals(Buffer.alloc(bytes, 1))).toBe(true);
    },
  );

  it('is not copied for a sink that is attached by what continues after its outcome', async () => {
    const exchange = read(20_000);
    await exchange.outcome;
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    const [chunk] = exchange.attach(sink)?.chunks ?? [];
    expect((chunk as Buffer).buffer).toBe(READ_BUFFER.buffer);
    await turn();
  });
});
