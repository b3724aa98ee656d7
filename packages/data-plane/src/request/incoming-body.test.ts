import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createBodyBudget, type UploadLimits } from './request-body.ts';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import { READ_BUFFER } from '@gateway/http/message/read-buffer';
import { ConnectionGuard } from '@gateway/http/connection-guard';
import { WaitingBody } from '@gateway/http/message/waiting-body';
import type { Clock } from '@gateway/shared/clock';
import { ClientLeftError } from './client-left-error.ts';
import { TimeAccount } from './time-account.ts';
import { IncomingBody } from './incoming-body.ts';

const CONTENT_BYTES = 100;
const IDLE_MS = 1000;
const UPLOAD: UploadLimits = {
  max_upload_ms: 3_600_000,
  min_upload_bytes_per_second: 0,
  body_idle_timeout_ms: null,
};

function setUp(upload: Partial<UploadLimits> = {}) {
  const connection = {
    gate: { holdBody: () => undefined, dropped: () => undefined, consumed: () => undefined },
    guard: new ConnectionGuard({ destroy: () => undefined }, () => undefined),
  };
  const head = { framing: { kind: 'length', bytes: CONTENT_BYTES } };
  const arriving = new WaitingBody(connection);
  const exchange = { head, body: arriving, connection, sendInterim: () => true };
  const budget = createBodyBudget(CONTENT_BYTES);
  const clock = manualClock();
  let timers = 0;
  const countingClock: Clock = {
    ...clock,
    setTimer(delayMs, callback) {
      timers += 1;
      return clock.setTimer(delayMs, callback);
    },
  };
  const options = { bodyBudget: budget, clock: countingClock, bodyIdleTimeoutMs: IDLE_MS };
  const times = new TimeAccount(clock.monotonicMs());
  const body = new IncomingBody(exchange as never, false, times, options);
  const request: { status: number | undefined } = { status: undefined };
  const limits = { maxBytes: 1000, request, upload: { ...UPLOAD, ...upload } };
  return { arriving, budget, body, times, clock, timers: () => timers, limits };
}

/** A body that streams. */
async function setUpStream(upload?: Partial<UploadLimits>) {
  const world = setUp(upload);
  const { body, limits, times, clock } = world;
  const taken = await body.take({ ...limits, keepBytes: 0 });
  times.enter('upstream', clock.monotonicMs());
  if (taken.kind !== 'stream') throw new Error('the body does not stream');
  return { ...world, stream: taken.stream };
}

describe('the body of a caller that has left', () => {
  it.each([
    ['kept', CONTENT_BYTES],
    ['streamed', 0],
  ])('is not waited for if it would be %s, and uses no budget', (_case, keepBytes) => {
    const { arriving, budget, body, limits } = setUp();
    arriving.received(Buffer.from('hello'), false);
    arriving.fail('peer_left');
    expect(() => body.take({ ...limits, keepBytes })).toThrow(ClientLeftError);
    expect(budget.reserve(CONTENT_BYTES)).toBe(true);
  });

  it('rejects when the caller leaves during the wait', async () => {
    const { arriving, body, limits } = setUp();
    const taken = body.take({ ...limits, keepBytes: CONTENT_BYTES });
    arriving.received(Buffer.from('hello'), false);
    arriving.fail('peer_left');
    await expect(taken).rejects.toBeInstanceOf(ClientLeftError);
  });
});

describe('a body that streams', () => {
  it('keeps what arrives before and while the upstream takes none', async () => {
    const { arriving, stream, times } = await setUpStream();
    const receive = (text: string) => {
      const bytes = READ_BUFFER.write(text);
      arriving.received(READ_BUFFER.subarray(0, bytes), false);
      READ_BUFFER.fill(0, 0, bytes);
    };
    let got = '';
    let pauses = true;
    receive('before, ');
    const data = (chunk: BodyBytes) => {
      got += chunk.toString();
      if (pauses) stream.pause();
    };
    stream.start({ data, failed: () => undefined });
    expect(got).toBe('before, ');
    for (const text of ['while ', 'it ', 'is ', 'paused']) receive(text);
    expect(got).toBe('before, ');
    expect(times.isReceiving).toBe(false);
    pauses = false;
    stream.resume();
    receive(', at once');
    expect(got).toBe('before, while it is paused, at once');
    expect(times.isReceiving).toBe(true);
  });
});

describe('the idle timeout of a body that streams', () => {
  it('counts from the last chunk, with one timer for all of them', async () => {
    const { arriving, stream, clock, timers } = await setUpStream();
    stream.start({ data: () => undefined, failed: () => undefined });
    for (let count = 1; count <= 10; count += 1) {
      arriving.received(Buffer.from('12345'), false);
      clock.advance(1);
    }
    expect(timers()).toBe(1);
    clock.advance(IDLE_MS - 2);
    expect(stream.failure).toBeUndefined();
    clock.advance(1);
    expect(stream.failure).toMatchObject({ code: 'request_timeout' });
  });

  it('begins again when an upstream that took nothing takes more', async () => {
    const { arriving, stream, clock } = await setUpStream();
    let pauses = true;
    const data = () => {
      if (pauses) stream.pause();
    };
    stream.start({ data, failed: () => undefined });
    arriving.received(Buffer.from('12345'), false);
    arriving.received(Buffer.from('67890'), false);
    clock.advance(IDLE_MS * 2.5);
    expect(stream.failure).toBeUndefined();
    pauses = false;
    stream.resume();
    clock.advance(IDLE_MS - 1);
    expect(stream.failure).toBeUndefined();
    clock.advance(1);
    expect(stream.failure).toMatchObject({ code: 'request_timeout' });
  });
});
