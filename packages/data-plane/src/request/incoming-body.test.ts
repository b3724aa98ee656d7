import { describe, expect, it } from '@jest/globals';
import { Socket } from 'node:net';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createBodyBudget } from './request-body.ts';
import { READ_BUFFER } from '@gateway/http1/message/read-buffer';
import { ConnectionGuard } from '@gateway/http1/connection-guard';
import { ServerRequest } from '@gateway/http1/server/request';
import type { Clock } from '@gateway/shared/clock';
import { ClientLeftError } from './caller.ts';
import { TimeAccount } from './time-account.ts';
import { IncomingBody } from './incoming-body.ts';

const CONTENT_BYTES = 100;
const IDLE_MS = 1000;

function setUp() {
  const connection = {
    socket: new Socket(),
    holdBody: () => undefined,
    dropped: () => undefined,
    guard: new ConnectionGuard({ destroy: () => undefined }, () => undefined),
  };
  const framing = { kind: 'length', bytes: CONTENT_BYTES };
  const head = { method: 'POST', url: '/', httpVersion: '1.1', framing };
  const request = new ServerRequest(head as never, connection);
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
  const body = new IncomingBody(request, undefined, new TimeAccount(0), options);
  const deadlineMs = clock.monotonicMs() + 1000;
  return { request, budget, body, clock, timers: () => timers, deadlineMs };
}

/** A body that streams. */
async function setUpStream() {
  const world = setUp();
  const { body, deadlineMs } = world;
  const taken = await body.take({ maxBytes: 1000, keepBytes: 0, deadlineMs });
  if (taken.kind !== 'stream') throw new Error('the body does not stream');
  return { ...world, stream: taken.stream };
}

describe('the body of a caller that has left', () => {
  it.each([
    ['kept', CONTENT_BYTES],
    ['streamed', 0],
  ])('is not waited for if it would be %s, and uses no budget', (_case, keepBytes) => {
    const { request, budget, body, deadlineMs } = setUp();
    request.received(Buffer.from('hello'));
    request.gone('left');
    expect(() => body.take({ maxBytes: 1000, keepBytes, deadlineMs })).toThrow(ClientLeftError);
    expect(budget.reserve(CONTENT_BYTES)).toBe(true);
  });

  it('rejects when the caller leaves during the wait', async () => {
    const { request, body, deadlineMs } = setUp();
    const taken = body.take({ maxBytes: 1000, keepBytes: CONTENT_BYTES, deadlineMs });
    request.received(Buffer.from('hello'));
    request.gone('left');
    await expect(taken).rejects.toBeInstanceOf(ClientLeftError);
  });
});

describe('a body that streams', () => {
  it('keeps what arrives before and while the upstream takes none', async () => {
    const { request, stream } = await setUpStream();
    const receive = (text: string) => {
      const bytes = READ_BUFFER.write(text);
      request.received(READ_BUFFER.subarray(0, bytes));
      READ_BUFFER.fill(0, 0, bytes);
    };
    let got = '';
    receive('before, ');
    stream.on('data', (chunk: Buffer) => {
      got += String(chunk);
      stream.pause();
    });
    await new Promise(setImmediate);
    expect(got).toBe('before, ');
    for (const text of ['while ', 'it ', 'is ', 'paused']) receive(text);
    expect(got).toBe('before, ');
    expect(stream.awaitsCaller).toBe(false);
    stream.removeAllListeners('data').on('data', (chunk: Buffer) => void (got += String(chunk)));
    stream.resume();
    await new Promise(setImmediate);
    receive(', at once');
    expect(got).toBe('before, while it is paused, at once');
    expect(stream.awaitsCaller).toBe(true);
  });
});

describe('the idle timeout of a body that streams', () => {
  it('counts from the last chunk, with one timer for all of them', async () => {
    const { request, stream, clock, timers } = await setUpStream();
    stream.on('data', () => undefined);
    for (let count = 1; count <= 10; count += 1) {
      await new Promise(setImmediate);
      request.received(Buffer.from('12345'));
      clock.advance(1);
    }
    expect(timers()).toBe(1);
    clock.advance(IDLE_MS - 2);
    expect(stream.failure).toBeUndefined();
    clock.advance(1);
    expect(stream.failure).toMatchObject({ code: 'request_timeout' });
  });

  it('begins again when an upstream that took nothing takes more', async () => {
    const { request, stream, clock } = await setUpStream();
    stream.on('data', () => stream.pause());
    await new Promise(setImmediate);
    request.received(Buffer.from('12345'));
    request.received(Buffer.from('67890'));
    expect(request.isPaused()).toBe(true);
    clock.advance(IDLE_MS * 2.5);
    stream.removeAllListeners('data').resume();
    await new Promise(setImmediate);
    expect(request.isPaused()).toBe(false);
    clock.advance(IDLE_MS - 1);
    expect(stream.failure).toBeUndefined();
    clock.advance(1);
    expect(stream.failure).toMatchObject({ code: 'request_timeout' });
  });
});
