import type { Http1ClientConnection } from '@gateway/http/http1/client/connection';
import type { BodySource } from '@gateway/http/exchange';
import type { ResponseHead } from '@gateway/http/message/response-head';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { ResponseSink, UpstreamResponse } from '../request/upstream-response.ts';
import { TimeAccount } from '../request/time-account.ts';
import type { AttemptError } from './attempt-end.ts';
import { Attempt } from './attempt.ts';

const HEAD: ResponseHead = {
  status: 200,
  statusText: 'OK',
  fields: [],
  framing: { kind: 'none' },
  keepAlive: true,
  keepAliveHintMs: undefined,
};

const STREAMED = { ended: undefined } as BodySource;

/** What becomes of a response; each call is noted. */
function notingSink(told: string[], stalled: () => void = () => undefined): ResponseSink {
  return {
    data: (bytes, last) => void told.push(last ? `${bytes.toString()}, last` : bytes.toString()),
    delivered: () => void told.push('delivered'),
    stalled() {
      told.push('stalled');
      stalled();
    },
    broken: () => void told.push('broken'),
  };
}

function setUp(
  body: BodySource | null = null,
  sink?: ResponseSink,
  bodyIdleTimeoutMs: number | null = null,
) {
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
  const outcomes: { response?: UpstreamResponse; error?: AttemptError }[] = [];
  const times = new TimeAccount(manual.monotonicMs());
  const handler = {
    bodyIdleTimeoutMs,
    responded(response: UpstreamResponse) {
      outcomes.push({ response });
      return sink;
    },
    failed: (error: AttemptError) => void outcomes.push({ error }),
  };
  const attempt = new Attempt(request, 100, handler, owner, undefined, times);
  const connection = {
    carry: () => connection,
    destroy: () => void (closed += 1),
    cancel: () => void (closed += 1),
    pause: () => undefined,
    resume: () => undefined,
    guard: { run: (run: () => void) => run() },
  } as unknown as Http1ClientConnection;
  return {
    clock,
    /** The process is paused: timers run late. */
    pause: (ms: number) => void (pausedMs += ms),
    attempt,
    times,
    connection,
    outcomes,
    counts: () => ({ closed, ended }),
  };
}

describe('the timeout of an attempt', () => {
  it('accepts a response that had arrived when a blocked event loop continued', async () => {
    const { clock, attempt, connection, outcomes, counts } = setUp();
    attempt.start(connection);
    clock.advance(8000);
    // The bytes that have arrived are read in the same turn of the event loop, after the timers.
    attempt.head(HEAD, true);
    expect(outcomes).toEqual([{ response: attempt }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(counts()).toEqual({ closed: 0, ended: 1 });
  });

  it('ends an attempt without a response, and closes its connection', async () => {
    const { clock, attempt, connection, outcomes, counts } = setUp();
    attempt.start(connection);
    clock.advance(100);
    await turn();
    expect(outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: true } }]);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });

  it('counts no time in which the caller of a body that streams is awaited', async () => {
    const { clock, attempt, times, connection, outcomes } = setUp(STREAMED);
    attempt.start(connection);
    const awaitCaller = (awaited: boolean) => times.awaitUpload(awaited, clock.monotonicMs());
    clock.advance(10);
    awaitCaller(true);
    clock.advance(5000);
    awaitCaller(false);
    clock.advance(50);
    awaitCaller(true);
    clock.advance(7000);
    awaitCaller(false);
    clock.advance(39);
    await turn();
    expect(outcomes).toEqual([]);
    clock.advance(1);
    await turn();
    expect(outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: true } }]);
  });

  it('counts all the time of a body that was sent with the head', async () => {
    const { clock, attempt, times, connection, outcomes } = setUp();
    attempt.start(connection);
    times.awaitUpload(true, clock.monotonicMs());
    clock.advance(100);
    await turn();
    expect(outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: true } }]);
  });

  it('is the fault of the upstream only for as long as it was waited for', async () => {
    const whole = setUp();
    whole.attempt.start(whole.connection);
    whole.clock.advance(100);
    expect(whole.attempt).toMatchObject({ connectionWaitMs: 0, upstreamMs: 100 });

    const waited = setUp();
    waited.attempt.waits(true);
    waited.clock.advance(80);
    waited.attempt.start(waited.connection);
    waited.clock.advance(20);
    await turn();
    expect(waited.outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: true } }]);
    expect(waited.attempt).toMatchObject({ connectionWaitMs: 80, upstreamMs: 20 });

    const unconnected = setUp(STREAMED);
    unconnected.attempt.waits(false);
    unconnected.clock.advance(100);
    expect(unconnected.outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: false } }]);
    expect(unconnected.attempt.upstreamMs).toBe(100);
  });

  it.each([
    ['others had the connections', true, 0, 'max_connections'],
    ['its connection did not open', false, 0, 'attempt_timeout'],
    ['the process was paused', false, 5000, 'gateway_paused'],
  ])('says why nothing was sent: %s', (_why, forOthers, pausedMs, name) => {
    const { clock, pause, attempt, outcomes } = setUp();
    attempt.waits(forOthers);
    pause(pausedMs);
    clock.advance(100);
    expect(outcomes).toEqual([{ error: { name, sent: false } }]);
  });

  it('ends an attempt that was not sent', () => {
    const { clock, outcomes, counts } = setUp();
    clock.advance(100);
    expect(counts()).toEqual({ closed: 0, ended: 1 });
    expect(outcomes).toEqual([{ error: { name: 'attempt_timeout', sent: false } }]);
  });
});

describe('the body of a response', () => {
  const LONG: ResponseHead = { ...HEAD, framing: { kind: 'length', bytes: 10 } };

  it('is passed on as it arrives, with its end', () => {
    const told: string[] = [];
    const { attempt, connection, counts } = setUp(null, notingSink(told));
    attempt.start(connection);
    attempt.head(LONG, false);
    attempt.data('hello', false);
    attempt.delivered();
    attempt.data('world', true);
    expect(told).toEqual(['hello', 'delivered', 'world, last']);
    expect(counts()).toEqual({ closed: 0, ended: 1 });
  });

  it('is cancelled if nobody wants it', () => {
    const { attempt, connection, counts } = setUp();
    attempt.start(connection);
    attempt.head(LONG, false);
    attempt.data('hello', true);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });

  it('is broken once if the connection fails, also at its end', () => {
    const told: string[] = [];
    const { attempt, connection, counts } = setUp(null, notingSink(told));
    attempt.start(connection);
    attempt.head(LONG, false);
    attempt.failed('reset', true);
    attempt.failed('reset', true);
    expect(told).toEqual(['broken']);
    expect(counts()).toEqual({ closed: 0, ended: 1 });
  });
});

describe('a sink that does not ask for more', () => {
  function setUpFull(stalled: (attempt: Attempt) => void) {
    const told: string[] = [];
    const world = setUp(
      null,
      notingSink(told, () => stalled(world.attempt)),
    );
    const { attempt, connection } = world;
    attempt.start(connection);
    attempt.head({ ...HEAD, framing: { kind: 'length', bytes: 10 } }, false);
    attempt.delivered();
    attempt.data('hello', false);
    attempt.pause();
    told.length = 0;
    return { ...world, told };
  }

  it('is told after the idle timeout, and its cancel ends the attempt', () => {
    const { clock, counts, told } = setUpFull((attempt) => attempt.cancel());
    clock.advance(999);
    expect(told).toEqual([]);
    clock.advance(10_000);
    expect(told).toEqual(['stalled']);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });

  it('may read on', () => {
    const { clock, attempt, counts, told } = setUpFull((one) => one.resume());
    clock.advance(1500);
    attempt.data('w', false);
    clock.advance(900);
    expect(told).toEqual(['stalled', 'w']);
    expect(counts()).toEqual({ closed: 0, ended: 0 });
  });

  it('is cut off after the same time if it does neither', () => {
    const { clock, counts, told } = setUpFull(() => undefined);
    clock.advance(2000);
    expect(told).toEqual(['stalled', 'broken']);
    expect(counts()).toEqual({ closed: 1, ended: 1 });
  });
});
