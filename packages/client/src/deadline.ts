/** Time as an argument, so that tests need not wait. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number;
  /** Calls `callback` once after `delayMs`. */
  setTimer(delayMs: number, callback: () => void): { cancel(): void };
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** The time that a call has, with its retries. */
export interface Deadline {
  /** Aborts when the time is over, or when the signal of the caller aborts. */
  readonly signal: AbortSignal;
  leftMs(): number;
  /** Resolves after `delayMs`. Rejects when the signal aborts. */
  pause(delayMs: number): Promise<void>;
  /** Stops the timer. */
  end(): void;
}

/** @param caller the signal of the caller, which ends the call early */
export function startDeadline(clock: Clock, timeoutMs: number, caller?: AbortSignal): Deadline {
  const endMs = clock.monotonicMs() + timeoutMs;
  const passed = new AbortController();
  const signal = caller === undefined ? passed.signal : AbortSignal.any([caller, passed.signal]);
  const timer = clock.setTimer(timeoutMs, () => {
    passed.abort(new Error(`there was no complete response within ${timeoutMs} ms`));
  });
  return {
    signal,
    leftMs: () => endMs - clock.monotonicMs(),
    pause: (delayMs) =>
      new Promise((resolve, reject) => {
        const abort = () => {
          wait.cancel();
          reject(signal.reason as Error);
        };
        const wait = clock.setTimer(delayMs, () => {
          signal.removeEventListener('abort', abort);
          resolve();
        });
        signal.addEventListener('abort', abort, { once: true });
      }),
    end: () => timer.cancel(),
  };
}
