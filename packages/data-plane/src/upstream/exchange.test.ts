import { setImmediate as turn } from 'node:timers/promises';
import type { BodySource } from '@gateway/http1/exchange';
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

const STREAMED = { ended: undefined } as BodySource;

function setUp(body: BodySource | null = null) {
  const manual = manualClock();
  let pausedMs = 0;
  const clock = { ...manual, monotonicMs: () => manual.monotonicMs() + pausedMs };
  let closed = 0;
  let ended = 0;
  const request = { method: 'GET', path: '/', fields: [], body, contentLength: undefined };
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
    /** The process is paused: timers run late. */
    pause: (ms: number) => void (pausedMs += ms),
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

  it('is the fault of the upstream only for as long as it alone was waited for', async () => {
    const whole = setUp();
    whole.exchange.started(whole.connection);
    whole.clock.advance(100);
    await whole.outcome;
    expect(whole.exchange).toMatchObject({ connectionWaitMs: 0, upstreamMs: 100 });

    const waited = setUp();
    waited.exchange.waits(true);
    waited.clock.advance(80);
    waited.exchange.started(waited.connection);
    waited.clock.advance(20);
    expect(await waited.outcome).toEqual({ error: { name: 'attempt_timeout', sent: true } });
    expect(waited.exchange).toMatchObject({ connectionWaitMs: 80, upstreamMs: 20 });

    const streamed = setUp(STREAMED);
    streamed.exchange.started(streamed.connection);
    streamed.clock.advance(70);
    expect(streamed.exchange.upstreamMs).toBe(0);
    streamed.exchange.requestSent();
    streamed.clock.advance(30);
    await streamed.outcome;
    expect(streamed.exchange).toMatchObject({ connectionWaitMs: 0, upstreamMs: 30 });

    const unconnected = setUp(STREAMED);
    unconnected.exchange.waits(false);
    unconnected.clock.advance(100);
    expect(await unconnected.outcome).toEqual({ error: { name: 'attempt_timeout', sent: false } });
    expect(unconnected.exchange.upstreamMs).toBe(100);
  });

  it.each([
    ['others had the connections', true, 0, 'max_connections'],
    ['its connection did not open', false, 0, 'attempt_timeout'],
    ['the process was paused', false, 5000, 'gateway_paused'],
  ])('says why nothing was sent: %s', async (_why, forOthers, pausedMs, name) => {
    const { clock, pause, exchange, outcome } = setUp();
    exchange.waits(forOthers);
    pause(pausedMs);
    clock.advance(100);
    expect(await outcome).toEqual({ error: { name, sent: false } });
  });

  it('ends an attempt that was not sent', async () => {
    const { clock, outcome, counts } = setUp();
    clock.advance(100);
    expect(counts()).toEqual({ closed: 0, ended: 1 });
    expect(await outcome).toEqual({ error: { name: 'attempt_timeout', sent: false } });
  });
});

describe('a body that arrives before its sink', () => {
  const sink = { data: () => true, stalled() {}, end() {}, error() {} };

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

describe('a sink that does not ask for more', () => {
  function setUpFull(stalled: (exchange: Exchange) => void) {
    const { clock, exchange, connection, counts } = setUp();
    const told: string[] = [];
    Object.assign(connection, { resume: () => undefined });
    exchange.started(connection);
    exchange.head({ ...HEAD, framing: { kind: 'length', bytes: 10 } });
    exchange.attach({
      data: () => false,
      stalled() {
        told.push('stalled');
        stalled(exchange);
      },
      end: () => void told.push('end'),
      error: () => void told.push('error'),
    });
    exchange.body(Buffer.from('hello'));
    return { clock, exchange, counts, told };
  }

  it('is told after the idle timeout, and its cancel ends the exchange', () => {
    const { clock, counts, told } = setUpFull((exchange) => exchange.cancel());
    clock.advance(999);
    expect(told).toEqual([]);
    clock.advance(10_000);
    expect(told).toEqual(['stalled']);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });

  it('may read on', () => {
    const { clock, exchange, counts, told } = setUpFull((one) => one.resume());
    clock.advance(1500);
    exchange.body(Buffer.from('w'));
    clock.advance(900);
    expect(told).toEqual(['stalled']);
    expect(counts()).toEqual({ closed: 0, ended: 0 });
  });

  it('is cut off after the same time if it does neither', () => {
    const { clock, counts, told } = setUpFull(() => undefined);
    clock.advance(2000);
    expect(told).toEqual(['stalled', 'error']);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });
});
