import { describe, expect, it } from '@jest/globals';
import { MAX_SENDS, MAX_SENDS_OF_SESSION, SendSlots } from './send-slots.ts';

describe('the slots of requests that are sent', () => {
  it('are bounded for each session and for all, and come back', () => {
    const slots = new SendSlots();
    const releases = Array.from({ length: MAX_SENDS }, (_, index) =>
      slots.take(String(Math.floor(index / MAX_SENDS_OF_SESSION))),
    );
    expect(slots.count).toBe(MAX_SENDS);
    expect(() => slots.take('0')).toThrow('A session sends at most 4 requests');
    expect(() => slots.take('new')).toThrow('at most 16 requests of the console');
    for (const release of releases) release();
    expect(slots.count).toBe(0);
    slots.take('0')();
    expect(slots.count).toBe(0);
  });
});
