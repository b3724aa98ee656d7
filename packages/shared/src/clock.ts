/**
 * Time as an argument. Nothing but the composition roots names the real clock, so a test advances
 * time instead of waiting for it.
 */
export interface Clock {
  /** Wall time, ms since the Unix epoch: for what is stored or compared between machines. */
  nowMs(): number;
  /** Time since some fixed point, ms with fractions, never set back: for durations and deadlines. */
  monotonicMs(): number;
  /** Calls once after at least `delayMs`. The handle does not keep a process alive on its own. */
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

/** Resolves after `delayMs` by the given clock, or at once when the signal aborts; never rejects. */
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
