/** The clock as an argument, so that a test can advance it. */
export interface Clock {
  /** Wall time, ms since the Unix epoch. */
  nowMs(): number;
  /** Time since a fixed point, ms with fractions, which never decreases. */
  monotonicMs(): number;
  /** Calls once after at least `delayMs`. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}
