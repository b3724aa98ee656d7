import { describe, expect, it } from '@jest/globals';
import { ConnectionGuard } from '@gateway/http/connection-guard';
import type { GatewayError } from '@gateway/shared/errors/gateway-error';
import { manualClock } from '@gateway/shared/test/manual-clock';
import type { UploadLimits } from './request-body.ts';
import { TimeAccount } from './time-account.ts';
import { UploadWatch } from './upload-watch.ts';

const S = 1000;
const RATE = 1024;

/** A body that the gateway waits for while its upstream takes what arrives. */
function setUp(fields: Partial<UploadLimits> = {}) {
  const clock = manualClock();
  const times = new TimeAccount(clock.monotonicMs());
  const errors: GatewayError[] = [];
  let timers = 0;
  const body = { receivedBytes: 0, times, late: (error: GatewayError) => void errors.push(error) };
  const request: { status: number | undefined } = { status: undefined };
  const upload = {
    max_upload_ms: 3_600_000,
    min_upload_bytes_per_second: RATE,
    body_idle_timeout_ms: null,
    ...fields,
  };
  const guard = new ConnectionGuard({ destroy: () => undefined }, () => undefined);
  const options = {
    clock: {
      ...clock,
      setTimer(delayMs: number, callback: () => void) {
        timers += 1;
        return clock.setTimer(delayMs, callback);
      },
    },
    bodyIdleTimeoutMs: 60 * S,
  };
  const limits = { maxBytes: Infinity, keepBytes: 0, request, upload };
  const watch = new UploadWatch(body, limits, guard, options);
  const awaitCaller = (awaited: boolean) => {
    times.awaitUpload(awaited, clock.monotonicMs());
    if (awaited) watch.awaited();
  };
  times.enter('upstream', clock.monotonicMs());
  awaitCaller(true);
  return {
    clock,
    request,
    errors,
    timers: () => timers,
    stop: () => watch.stop(),
    awaitCaller,
    receive: (bytes: number) => {
      body.receivedBytes += bytes;
      watch.progressed();
    },
  };
}

describe('the wait for a body', () => {
  it('ends when nothing has arrived of it for as long as the data plane allows', () => {
    const { clock, receive, errors } = setUp({ min_upload_bytes_per_second: 0 });
    clock.advance(59 * S);
    receive(1);
    clock.advance(60 * S - 1);
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors).toMatchObject([
      {
        code: 'request_timeout',
        message:
          'The request body timed out: nothing of it arrived for too long (body_idle_timeout_ms: 60000).',
      },
    ]);
  });

  it('may be silent for as long as the route says', () => {
    const { clock, errors } = setUp({
      min_upload_bytes_per_second: 0,
      body_idle_timeout_ms: 200 * S,
    });
    clock.advance(200 * S - 1);
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors[0]?.message).toContain('(body_idle_timeout_ms: 200000)');
  });

  it('goes on while the caller sends as fast as it must, with a timer for each 30 s', () => {
    const { clock, receive, errors, timers } = setUp();
    for (let second = 0; second < 600; second += 1) {
      receive(RATE);
      clock.advance(S);
    }
    expect(errors).toEqual([]);
    // None for a chunk. The silence is looked at too.
    expect(timers()).toBeLessThanOrEqual(600 / 30 + 2);
  });

  it('ends after 30 s of less, and says what is too little', () => {
    const { clock, receive, errors } = setUp();
    for (let second = 0; second < 30; second += 1) {
      receive(RATE - 1);
      clock.advance(S);
      expect(errors).toHaveLength(second === 29 ? 1 : 0);
    }
    expect(errors[0]?.message).toBe(
      'The request body timed out: it was too slow over 30 s (min_upload_bytes_per_second: 1024).',
    );
  });

  it('ends at the latest after a minute if the caller stops, however much it sent before', () => {
    const { clock, receive, errors } = setUp({ body_idle_timeout_ms: 3600 * S });
    clock.advance(10);
    receive(1e9);
    clock.advance(60 * S - 11);
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors).toHaveLength(1);
  });

  it('ends when it has taken too long in all', () => {
    const { clock, receive, errors } = setUp({ max_upload_ms: 100 * S });
    for (let second = 0; second < 100; second += 1) {
      expect(errors).toEqual([]);
      receive(1e6);
      clock.advance(S);
    }
    expect(errors[0]?.message).toBe(
      'The request body timed out: it took too long in all (max_upload_ms: 100000).',
    );
  });

  it('counts no time in which the upstream takes nothing, and has no timer then', () => {
    const { clock, receive, errors, timers, awaitCaller } = setUp({ max_upload_ms: 50 * S });
    for (let turn = 0; turn < 4; turn += 1) {
      receive(RATE * 10);
      clock.advance(10 * S);
      awaitCaller(false);
      const before = timers();
      clock.advance(1000 * S);
      expect(timers() - before).toBeLessThanOrEqual(1);
      awaitCaller(true);
    }
    expect(errors).toEqual([]);
    clock.advance(10 * S);
    expect(errors[0]?.message).toContain('max_upload_ms');
  });

  it('is bounded by its silence alone once the response has begun', () => {
    const { clock, request, receive, errors } = setUp({ max_upload_ms: 20 * S });
    clock.advance(10 * S);
    request.status = 200;
    for (let minute = 0; minute < 60; minute += 1) {
      receive(1);
      clock.advance(60 * S - 1);
    }
    expect(errors).toEqual([]);
    clock.advance(1);
    expect(errors[0]?.message).toContain('body_idle_timeout_ms');
  });

  it('is watched no more once it is stopped', () => {
    const { clock, errors, stop, awaitCaller } = setUp();
    stop();
    awaitCaller(false);
    awaitCaller(true);
    clock.advance(1e9);
    expect(errors).toEqual([]);
  });
});
