/** Time as an argument. Only the composition roots use the real clock, so tests advance time instead of waiting. */
export interface Clock {
  /** Wall time, ms since the Unix epoch: for values that are stored or compared between machines. */
  nowMs(): number;
  /** Monotonic time, ms with fractions: for durations and deadlines. */
  monotonicMs(): number;
  /** Calls `callback` once after at least `delayMs`. The timer does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or when the signal aborts; never rejects. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

const POLL_MS = 10;

/** Resolves when the condition holds, at the latest after `timeoutMs`. */
export async function waitUntil(
  clock: Clock,
  timeoutMs: number,
  condition: () => boolean,
): Promise<void> {
  const endMs = clock.monotonicMs() + timeoutMs;
  while (!condition() && clock.monotonicMs() < endMs) await pause(clock, POLL_MS);
}

export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Returns how long to wait before the next try, ms: the delay doubles up to `maxMs`, and a random part of
 * up to half of it is taken off, so that the clients of a server that was away do not come back in step.
 *
 * @param failures in a row, at least 1
 * @param random a number in [0, 1)
 */
export function backOffMs(failures: number, backOff: BackOff, random: number): number {
  const ceilingMs = Math.min(backOff.maxMs, backOff.firstMs * 2 ** (failures - 1));
  return ceilingMs * (1 - random / 2);
}
