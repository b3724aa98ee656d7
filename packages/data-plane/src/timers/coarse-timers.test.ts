import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { connect } from 'node:net';
import { systemClock, type Clock } from '@gateway/shared/clock';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { withCoarseTimers } from './coarse-timers.ts';
import { manualClock, type ManualClock } from '../../../shared/test/manual-clock.ts';

const opened = closeAfterEach();

/** Their last turn is one of the clock too. */
const coarse = (clock: Clock, tickMs: number, turns = clock) =>
  withCoarseTimers(clock, tickMs, (run) => turns.setTimer(0, run));

describe('coarse timers', () => {
  it('fire once, never early and at most two ticks late, unless they are cancelled', () => {
    const step = fc.record({
      delayMs: fc.nat(300),
      advanceMs: fc.nat(40),
      cancel: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        (steps, tickMs) => {
          const manual = manualClock();
          const clock = coarse(manual, tickMs);
          const fired = new Map<number, number[]>();
          const due = new Map<number, number>();
          steps.forEach(({ delayMs, advanceMs, cancel }, index) => {
            due.set(index, manual.monotonicMs() + delayMs);
            const timer = clock.setTimer(delayMs, () => {
              fired.set(index, [...(fired.get(index) ?? []), manual.monotonicMs()]);
            });
            if (cancel) {
              timer.cancel();
              timer.cancel();
              due.delete(index);
            }
            manual.advance(advanceMs);
          });
          manual.advance(1000);
          expect([...fired.keys()].sort((a, b) => a - b)).toEqual([...due.keys()]);
          for (const [index, times] of fired) {
            const dueMs = due.get(index) ?? 0;
            expect(times).toHaveLength(1);
            expect(times[0]).toBeGreaterThanOrEqual(dueMs);
            expect(times[0]).toBeLessThanOrEqual(dueMs + 2 * tickMs);
          }
        },
      ),
    );
  });

  it('can be set and cancelled by a timer that fires', () => {
    const manual = manualClock();
    const clock = coarse(manual, 5);
    const fired: string[] = [];
    const other = clock.setTimer(10, () => void fired.push('other'));
    clock.setTimer(10, () => void fired.push('never'));
    const never = clock.setTimer(10, () => void fired.push('never'));
    other.cancel();
    clock.setTimer(9, () => {
      never.cancel();
      fired.push('first');
      clock.setTimer(0, () => void fired.push('second'));
    });
    manual.advance(8);
    expect(fired).toEqual([]);
    manual.advance(50);
    expect(fired.filter((name) => name !== 'never')).toEqual(['first', 'second']);
  });

  it('leave no timer of the clock when none is pending', () => {
    const manual = manualClock();
    const counted = countingWakes(manual);
    const clock = coarse(counted, 5, manual);
    clock.setTimer(100, () => undefined).cancel();
    manual.advance(1000);
    expect(counted.wakes()).toBe(1);
    clock.setTimer(5, () => undefined);
    manual.advance(1000);
    expect(counted.wakes()).toBe(2);
  });

  it('wake the process for due timers, and hardly for cancelled or distant ones', () => {
    const manual = manualClock();
    const counted = countingWakes(manual);
    const clock = coarse(counted, 5, manual);
    const firedMs: number[] = [];
    clock.setTimer(30_000, () => void firedMs.push(manual.monotonicMs()));
    for (let requests = 0; requests < 1000; requests += 1) {
      clock.setTimer(30, () => undefined).cancel();
      manual.advance(10);
    }
    expect(counted.wakes()).toBeLessThanOrEqual(10_000 / 30);
    const before = counted.wakes();
    manual.advance(30_000);
    expect(counted.wakes() - before).toBeLessThanOrEqual(20_000 / (32 * 5) + 2);
    expect(firedMs).toEqual([30_005]);
  });

  it('are run even if one of them throws', () => {
    const manual = manualClock();
    const clock = coarse(manual, 5);
    const fired: string[] = [];
    clock.setTimer(10, () => void fired.push('before'));
    clock.setTimer(10, () => {
      throw new Error('of a timer');
    });
    clock.setTimer(10, () => void fired.push('beside'));
    clock.setTimer(20, () => void fired.push('later'));
    expect(() => manual.advance(100)).toThrow('of a timer');
    manual.advance(100);
    expect(fired).toEqual(['before', 'beside', 'later']);
  });

  it('let other events have a turn while many are due at once', () => {
    const manual = manualClock();
    const counted = countingWakes(manual);
    const clock = coarse(counted, 5, manual);
    let fired = 0;
    const firedAtWake: number[] = [];
    for (let timer = 0; timer < 1000; timer += 1) {
      clock.setTimer(10, () => {
        fired += 1;
        firedAtWake[counted.wakes()] = (firedAtWake[counted.wakes()] ?? 0) + 1;
      });
    }
    manual.advance(15);
    expect(fired).toBe(1000);
    expect(Math.max(...Object.values(firedAtWake))).toBeLessThanOrEqual(10);
  });

  it('that become due while others run are run next, without a timer for a past time', () => {
    const manual = manualClock();
    let spentMs = 0;
    const delays: number[] = [];
    const clock = coarse(
      {
        ...manual,
        monotonicMs: () => manual.monotonicMs() + spentMs,
        setTimer(delayMs, callback) {
          delays.push(delayMs);
          return manual.setTimer(delayMs, callback);
        },
      },
      5,
      manual,
    );
    const fired: string[] = [];
    clock.setTimer(10, () => {
      spentMs += 50;
      fired.push('slow');
    });
    clock.setTimer(20, () => void fired.push('due meanwhile'));
    clock.setTimer(90, () => void fired.push('later'));
    manual.advance(20);
    expect(fired).toEqual(['slow', 'due meanwhile']);
    manual.advance(100);
    expect(fired).toEqual(['slow', 'due meanwhile', 'later']);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  });

  it('fire after what has arrived during a pause of the process was read', async () => {
    const order: string[] = [];
    const accepted = Promise.withResolvers<string>();
    const fired = Promise.withResolvers<string>();
    const reader = opened(
      await startRawUpstream((socket) => {
        socket.on('data', () => void order.push('read'));
        accepted.resolve('');
      }),
    );
    const peer = connect({ port: Number(new URL(reader.url).port), host: '127.0.0.1' });
    await accepted.promise;
    withCoarseTimers(systemClock, 5).setTimer(10, () => {
      order.push('fired');
      fired.resolve('');
    });
    peer.write('in time');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    await fired.promise;
    peer.destroy();
    expect(order).toEqual(['read', 'fired']);
  });

  it('can be longer than any timer of Node', () => {
    const manual = manualClock();
    const delays: number[] = [];
    const clock = coarse(
      {
        ...manual,
        setTimer(delayMs, callback) {
          delays.push(delayMs);
          return manual.setTimer(delayMs, callback);
        },
      },
      5,
      manual,
    );
    let fired = 0;
    clock.setTimer(Infinity, () => (fired += 1));
    clock.setTimer(2 ** 31 + 10, () => (fired += 1)).cancel();
    manual.advance(70_000);
    expect(fired).toBe(0);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
    expect(delays.length).toBeLessThan(100);
  });

  it('wake earlier for a timer that is due before the others', () => {
    const manual = manualClock();
    const clock = coarse(manual, 5);
    const firedMs: number[] = [];
    const fire = () => void firedMs.push(manual.monotonicMs());
    clock.setTimer(10_000, fire);
    clock.setTimer(500, fire);
    manual.advance(100);
    clock.setTimer(20, fire);
    manual.advance(20_000);
    expect(firedMs).toEqual([125, 505, 10_005]);
  });
});

function countingWakes(clock: ManualClock): Clock & { wakes(): number } {
  let wakes = 0;
  return {
    ...clock,
    setTimer: (delayMs, callback) =>
      clock.setTimer(delayMs, () => {
        wakes += 1;
        callback();
      }),
    wakes: () => wakes,
  };
}
