import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { watchMemory } from '@gateway/shared/test/memory';
import { createBodyBudget } from '../request/request-body.ts';
import { CapturedResponse } from './captured-response.ts';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { BodySink, UpstreamResponse } from '../request/upstream-response.ts';

const BOUND = 100;

/** A response of an upstream whose body the test sends. */
function setUp({
  whole,
  budgetBytes = 1000,
  maxBodyBytes = BOUND,
}: { whole?: string[]; budgetBytes?: number; maxBodyBytes?: number } = {}) {
  const clock = manualClock();
  const events: string[] = [];
  let sink: BodySink | undefined;
  const upstream: UpstreamResponse = {
    status: 200,
    statusText: 'OK',
    fields: ['A', 'b'],
    attach(given) {
      events.push('attached');
      sink = given;
      return whole === undefined ? undefined : { chunks: whole };
    },
    resume: () => void events.push('resumed'),
    cancel: () => void events.push('cancelled'),
  };
  const budget = createBodyBudget(budgetBytes);
  let droppedBytes = 0;
  const captured = new CapturedResponse(upstream, {
    clock,
    budget,
    maxBodyBytes,
    unattendedTimeoutMs: 1000,
    complete: (body) => void events.push(`complete ${body?.toString('latin1') ?? 'without body'}`),
    broken: () => void events.push('broken'),
    dropped: (bytes) => void (droppedBytes += bytes),
  });
  const passed: string[] = [];
  const caller: BodySink = {
    data: (chunk) => passed.push(chunk.toString('latin1')) < 2,
    stalled: () => void passed.push('stalled'),
    end: () => void passed.push('end'),
    error: () => void passed.push('error'),
  };
  return {
    captured,
    clock,
    events,
    passed,
    caller,
    send: (chunk: BodyBytes) => sink?.data(chunk),
    end: () => sink?.end(),
    fail: () => sink?.error(new Error('broken')),
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
  it('is passed on at the pace of the caller, and kept completely', () => {
    const { captured, caller, send, end, passed, events, isFree } = setUp();
    captured.attach(caller);
    expect([send('one'), send(Buffer.from([0xff]))]).toEqual([true, false]);
    captured.resume();
    end();
    expect(passed).toEqual(['one', '\u00ff', 'end']);
    expect(events).toEqual(['attached', 'resumed', 'complete one\u00ff']);
    expect(isFree()).toBe(false);
    captured.release();
    expect(isFree()).toBe(true);
  });

  it('that had arrived completely is kept and passed on at once', () => {
    const { captured, caller, events } = setUp({ whole: ['ab', 'c'] });
    expect(captured.attach(caller)?.chunks).toEqual(['ab', 'c']);
    expect(events).toEqual(['attached', 'complete abc']);
    captured.cancel();
    expect(events).toHaveLength(2);
  });

  it('of exactly the limit is kept; one more byte is not, and all bytes are counted', () => {
    const fits = setUp();
    fits.captured.attach(fits.caller);
    fits.send('x'.repeat(BOUND));
    fits.end();
    expect(fits.events.at(-1)).toBe(`complete ${'x'.repeat(BOUND)}`);
    expect(fits.droppedBytes()).toBe(0);

    const tooLong = setUp();
    tooLong.captured.attach(tooLong.caller);
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
    captured.attach({
      data: () => true,
      stalled: () => undefined,
      end: () => undefined,
      error: () => undefined,
    });
    for (let byte = 0; byte < maxBodyBytes; byte += 1) send(Buffer.from('x'));
    const { liveBytes } = memory.growth();
    end();
    expect(events.at(-1)).toBe(`complete ${'x'.repeat(maxBodyBytes)}`);
    // A list of the parts takes 120 times the size. Other suites of this process change the memory too.
    expect(liveBytes).toBeLessThan(40 * maxBodyBytes);
  });

  it('is not kept if the budget is used up', () => {
    const { captured, caller, send, end, events, isFree } = setUp({ budgetBytes: 10 });
    captured.attach(caller);
    send('x'.repeat(11));
    end();
    expect(events.at(-1)).toBe('complete without body');
    expect(isFree()).toBe(true);
  });

  it('that ends early is not complete, and is not kept', () => {
    const { captured, caller, send, fail, passed, events, isFree } = setUp();
    captured.attach(caller);
    send('half');
    fail();
    expect(passed).toEqual(['half', 'error']);
    expect(events).toContain('broken');
    expect(events.join()).not.toContain('complete');
    expect(isFree()).toBe(true);
  });

  it('is read to its end if its caller leaves before or during it', () => {
    const before = setUp();
    before.captured.cancel();
    expect([before.send('one'), before.send('two'), before.send('three')]).toEqual([
      ...[true, true, true],
    ]);
    before.end();
    expect(before.events.at(-1)).toBe('complete onetwothree');

    const within = setUp();
    within.captured.attach(within.caller);
    within.send('one');
    within.captured.cancel();
    expect(within.events).toContain('resumed');
    expect(within.send('two')).toBe(true);
    within.end();
    expect(within.passed).toEqual(['one']);
    expect(within.events.at(-1)).toBe('complete onetwo');
  });

  it('is cancelled if its caller has left and it takes too long, not before', () => {
    const { captured, clock, send, events, isFree } = setUp();
    captured.cancel();
    send('one');
    clock.advance(999);
    expect(events).toEqual(['attached']);
    clock.advance(1);
    expect(events).toEqual(['attached', 'cancelled', 'broken']);
    expect(isFree()).toBe(true);
  });

  it('is not read further if its caller has left and it is too large to keep', () => {
    const { captured, clock, send, events } = setUp();
    captured.cancel();
    send('x'.repeat(BOUND + 1));
    expect(events).toEqual(['attached', 'cancelled', 'complete without body']);
    clock.advance(5000);
    expect(events).toHaveLength(3);
  });
});
