/** Time as an argument, so that a test advances a clock and does not wait. */
export interface Clock {
  /** Wall time, ms since the Unix epoch. */
  nowMs(): number;
  /** Time since some fixed point, ms with fractions, never set back. */
  monotonicMs(): number;
  /** Calls once after at least `delayMs`. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
