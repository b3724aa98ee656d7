import type { Clock } from './clock.ts';

/**
 * Called between the steps of long work: undefined to go on, or a promise to await, where the event
 * loop was held for long enough and others are to have their turn first.
 */
export type Pace = () => Promise<void> | undefined;

/** For who may hold the event loop: tests, commands, and what runs before anybody is served. */
export const UNPACED: Pace = () => undefined;

/** Work that may be left off after each step. */
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

/** @param maxHoldMs how long the event loop is held at a time, but for the last step of it */
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
