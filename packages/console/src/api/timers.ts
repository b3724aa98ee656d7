/** Timers, which tests replace by their own. */
export interface Timers {
  /** @returns the undo */
  readonly start: (callback: () => void, delayMs: number) => () => void;
}

export const realTimers: Timers = {
  start(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
