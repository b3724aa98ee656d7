import type { Clock } from './clock.ts';

/**
 * Called between the steps of long work. Returns undefined to continue, or a promise to await if the work has blocked the event
 * loop for long enough.
 */
export type Pace = () => Promise<void> | undefined;

/** Never waits: for tests, commands, and work before the process serves. */
export const UNPACED: Pace = () => undefined;

/** Work that can be interrupted after each step. */
export type Steps<T> = Generator<undefined, T, undefined>;

export async function runPaced<T>(steps: Steps<T>, pace: Pace): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const turn = pace();
    if (turn !== undefined) await turn;
  }
}

export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** @param maxHoldMs how long the event loop may be blocked at a time; the last step may exceed it */
export function createPace(clock: Clock, maxHoldMs: number): Pace {
  let sinceMs = clock.monotonicMs();
  return () => {
    if (clock.monotonicMs() - sinceMs < maxHoldMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        sinceMs = clock.monotonicMs();
        resolve();
      });
    });
  };
}
