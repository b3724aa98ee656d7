import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@gateway/shared/test/manual-clock';
import { createBodyBudget } from '../request/request-body.ts';
import { CapturedResponse } from './captured-response.ts';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { BodySink, UpstreamResponse } from '../request/upstream-response.ts';

const BOUND = 100;

/** An upstream's response whose body the test sends. */
function setUp({ whole, budgetBytes = 1000 }: { whole?: string[]; budgetBytes?: number } = {}) {
  const clock = manualClock();
  const told: string[] = [];
  let sink: BodySink | undefined;
  const upstream: UpstreamResponse = {
    status: 200,
    statusText: 'OK',
    fields: ['A', 'b'],
    attach(given) {
      told.push('attached');
      sink = given;
      return whole === undefined ? undefined : { chunks: whole };
    },
    resume: () => void told.push('resumed'),
    cancel: () => void told.push('cancelled'),
  };
  const budget = createBodyBudget(budgetBytes);
  let droppedBytes = 0;
  const captured = new CapturedResponse(upstream, {
    clock,
    budget,
    maxBodyBytes: BOUND,
    unattendedTimeoutMs: 1000,
    complete: (body) => void told.push(`complete ${body?.toString('latin1') ?? 'without body'}`),
    broken: () => void told.push('broken'),
    dropped: (bytes) => void (droppedBytes += bytes),
  });
  const passed: string[] = [];
  const caller: BodySink = {
    data: (chunk) => passed.push(chunk.toString('latin1')) < 2,
    end: () => void passed.push('end'),
    error: () => void passed.push('error'),
  };
  return {
    captured,
    clock,
    told,
    passed,
    caller,
    send: (chunk: BodyBytes) => sink?.data(chunk),
    end: () => sink?.end(),
    fail: () => sink?.error(new Error('broken')),
    droppedBytes: () => droppedBytes,
    /** Whether all of the budget is free. */
    isFree: () => {
      if (!budget.reserve(budgetBytes)) return false;
      budget.release(budgetBytes);
      return true;
    },
  };
}

describe('a captured response', () => {
  it('passes on at the caller’s pace, and is kept whole', () => {
    const { captured, caller, send, end, passed, told, isFree } = setUp();
    captured.attach(caller);
    expect([send('one'), send(Buffer.from([0xff]))]).toEqual([true, false]);
    captured.resume();
    end();
    expect(passed).toEqual(['one', '\u00ff', 'end']);
    expect(told).toEqual(['attached', 'resumed', 'complete one\u00ff']);
    expect(isFree()).toBe(false);
    captured.release();
    expect(isFree()).toBe(true);
  });

  it('that had come whole is kept and handed on at once', () => {
    const { captured, caller, told } = setUp({ whole: ['ab', 'c'] });
    expect(captured.attach(caller)?.chunks).toEqual(['ab', 'c']);
    expect(told).toEqual(['attached', 'complete abc']);
    captured.cancel();
    expect(told).toHaveLength(2);
  });

  it('of just the bound is kept, a byte more is not, and all of it is counted', () => {
    const fits = setUp();
    fits.captured.attach(fits.caller);
    fits.send('x'.repeat(BOUND));
    fits.end();
    expect(fits.told.at(-1)).toBe(`complete ${'x'.repeat(BOUND)}`);
    expect(fits.droppedBytes()).toBe(0);

    const tooLong = setUp();
    tooLong.captured.attach(tooLong.caller);
    for (const chunk of ['x'.repeat(BOUND), 'y', 'z']) tooLong.send(chunk);
    tooLong.end();
    expect(tooLong.passed.join('')).toBe(`${'x'.repeat(BOUND)}yzend`);
    expect(tooLong.told.at(-1)).toBe('complete without body');
    expect(tooLong.droppedBytes()).toBe(BOUND + 2);
    expect(tooLong.isFree()).toBe(true);
  });

  it('is not kept where too much is kept already', () => {
    const { captured, caller, send, end, told, isFree } = setUp({ budgetBytes: 10 });
    captured.attach(caller);
    send('x'.repeat(11));
    end();
    expect(told.at(-1)).toBe('complete without body');
    expect(isFree()).toBe(true);
  });

  it('that breaks off is not complete, and leaves nothing kept', () => {
    const { captured, caller, send, fail, passed, told, isFree } = setUp();
    captured.attach(caller);
    send('half');
    fail();
    expect(passed).toEqual(['half', 'error']);
    expect(told).toContain('broken');
    expect(told.join()).not.toContain('complete');
    expect(isFree()).toBe(true);
  });

  it('is read to its end when its caller has left, before or within it', () => {
    const before = setUp();
    before.captured.cancel();
    expect([before.send('one'), before.send('two'), before.send('three')]).toEqual([
      ...[true, true, true],
    ]);
    before.end();
    expect(before.told.at(-1)).toBe('complete onetwothree');

    const within = setUp();
    within.captured.attach(within.caller);
    within.send('one');
    within.captured.cancel();
    expect(within.told).toContain('resumed');
    expect(within.send('two')).toBe(true);
    within.end();
    expect(within.passed).toEqual(['one']);
    expect(within.told.at(-1)).toBe('complete onetwo');
  });

  it('is given up when its caller has left and it takes too long, and not before', () => {
    const { captured, clock, send, told, isFree } = setUp();
    captured.cancel();
    send('one');
    clock.advance(999);
    expect(told).toEqual(['attached']);
    clock.advance(1);
    expect(told).toEqual(['attached', 'cancelled', 'broken']);
    expect(isFree()).toBe(true);
  });

  it('is read no further when its caller has left and it is too large to be kept', () => {
    const { captured, clock, send, told } = setUp();
    captured.cancel();
    send('x'.repeat(BOUND + 1));
    expect(told).toEqual(['attached', 'cancelled', 'complete without body']);
    clock.advance(5000);
    expect(told).toHaveLength(3);
  });
});
