import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { watchMemory } from '@gateway/shared/test/memory';
import { createBodyBudget } from '../request/request-body.ts';
import { CapturedResponse } from './captured-response.ts';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { UpstreamResponse } from '../request/upstream-response.ts';

const BOUND = 100;

/** A response of an upstream whose body the test sends. */
function setUp({
  budgetBytes = 1000,
  maxBodyBytes = BOUND,
}: { budgetBytes?: number; maxBodyBytes?: number } = {}) {
  const clock = manualClock();
  const events: string[] = [];
  const upstream: UpstreamResponse = {
    status: 200,
    statusText: 'OK',
    fields: ['A', 'b'],
    pause: () => void events.push('paused'),
    resume: () => void events.push('resumed'),
    sendBytes: () => undefined,
    cancel: () => void events.push('cancelled'),
  };
  const budget = createBodyBudget(budgetBytes);
  let droppedBytes = 0;
  const passed: string[] = [];
  const caller = {
    data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields) {
      if (bytes.length > 0) passed.push(bytes.toString('latin1'));
      if (last) passed.push(`end${trailers === undefined ? '' : ` ${trailers.join()}`}`);
    },
    delivered: () => void passed.push('delivered'),
    stalled: () => void passed.push('stalled'),
    broken: () => void passed.push('broken'),
  };
  const captured = new CapturedResponse(upstream, caller, {
    clock,
    budget,
    maxBodyBytes,
    unattendedTimeoutMs: 1000,
    complete(body, trailers) {
      const after = trailers === undefined ? '' : ` ${trailers.join()}`;
      events.push(`complete ${body?.toString('latin1') ?? 'without body'}${after}`);
    },
    broken: () => void events.push('broken'),
    dropped: (bytes) => void (droppedBytes += bytes),
  });
  return {
    captured,
    clock,
    events,
    passed,
    send: (bytes: BodyBytes) => captured.data(bytes, false),
    end: (trailers?: HeaderFields) => captured.data('', true, trailers),
    droppedBytes: () => droppedBytes,
    /** Whether the whole budget is free. */
    isFree: () => {
      if (!budget.reserve(budgetBytes)) return false;
      budget.release(budgetBytes);
      return true;
    },
  };
}

describe('a captured response', () => {
  it.each([
    ['few', 'one', 'complete one X-Sum,7'],
    ['too many', 'x'.repeat(BOUND + 1), 'complete without body X-Sum,7'],
  ])('is passed on and kept with its trailers, also if it has %s bytes', (_what, body, kept) => {
    const { send, end, passed, events } = setUp();
    send(body);
    end(['X-Sum', '7']);
    expect(passed).toEqual([body, 'end X-Sum,7']);
    expect(events).toEqual([kept]);
  });

  it('is passed on to the caller, and kept completely', () => {
    const { captured, send, passed, events, isFree } = setUp();
    send('one');
    captured.delivered();
    captured.stalled();
    captured.data(Buffer.from([0xff]), true);
    expect(passed).toEqual(['one', 'delivered', 'stalled', '\u00ff', 'end']);
    expect(events).toEqual(['complete one\u00ff']);
    captured.cancel();
    expect(events).toHaveLength(1);
    expect(isFree()).toBe(false);
    captured.release();
    expect(isFree()).toBe(true);
  });

  it('of exactly the limit is kept; one more byte is not, and all bytes are counted', () => {
    const fits = setUp();
    fits.send('x'.repeat(BOUND));
    fits.end();
    expect(fits.events.at(-1)).toBe(`complete ${'x'.repeat(BOUND)}`);
    expect(fits.droppedBytes()).toBe(0);

    const tooLong = setUp();
    for (const chunk of ['x'.repeat(BOUND), 'y', 'z']) tooLong.send(chunk);
    tooLong.end();
    expect(tooLong.passed.join('')).toBe(`${'x'.repeat(BOUND)}yzend`);
    expect(tooLong.events.at(-1)).toBe('complete without body');
    expect(tooLong.droppedBytes()).toBe(BOUND + 2);
    expect(tooLong.isFree()).toBe(true);
  });

  it('is kept in memory of about its size, however small its parts are', () => {
    const maxBodyBytes = 300_000;
    const memory = watchMemory();
    const { captured, send, end, events } = setUp({ maxBodyBytes, budgetBytes: maxBodyBytes });
    // What is passed on is not of interest.
    captured.cancel();
    for (let byte = 0; byte < maxBodyBytes; byte += 1) send(Buffer.from('x'));
    const { liveBytes } = memory.growth();
    end();
    expect(events.at(-1)).toBe(`complete ${'x'.repeat(maxBodyBytes)}`);
    // A list of the parts takes 120 times the size. Other suites of this process change the memory too.
    expect(liveBytes).toBeLessThan(40 * maxBodyBytes);
  });

  it('is not kept if the budget is used up', () => {
    const { send, end, events, isFree } = setUp({ budgetBytes: 10 });
    send('x'.repeat(11));
    end();
    expect(events.at(-1)).toBe('complete without body');
    expect(isFree()).toBe(true);
  });

  it('that ends early is not complete, and is not kept', () => {
    const { captured, send, passed, events, isFree } = setUp();
    send('half');
    captured.broken('reset');
    expect(passed).toEqual(['half', 'broken']);
    expect(events).toContain('broken');
    expect(events.join()).not.toContain('complete');
    expect(isFree()).toBe(true);
  });

  it('is read to its end if its caller leaves before or during it', () => {
    const before = setUp();
    before.captured.cancel();
    for (const part of ['one', 'two', 'three']) before.send(part);
    before.end();
    expect(before.events.at(-1)).toBe('complete onetwothree');

    const within = setUp();
    within.send('one');
    within.captured.cancel();
    expect(within.events).toContain('resumed');
    within.send('two');
    within.end();
    expect(within.passed).toEqual(['one']);
    expect(within.events.at(-1)).toBe('complete onetwo');
  });

  it('is cancelled if its caller has left and it takes too long, not before', () => {
    const { captured, clock, send, events, isFree } = setUp();
    captured.cancel();
    send('one');
    clock.advance(999);
    expect(events).toEqual(['resumed']);
    clock.advance(1);
    expect(events).toEqual(['resumed', 'cancelled', 'broken']);
    expect(isFree()).toBe(true);
  });

  it('is not read further if its caller has left and it is too large to keep', () => {
    const { captured, clock, send, events } = setUp();
    captured.cancel();
    send('x'.repeat(BOUND + 1));
    expect(events).toEqual(['resumed', 'cancelled', 'complete without body']);
    clock.advance(5000);
    expect(events).toHaveLength(3);
  });
});
