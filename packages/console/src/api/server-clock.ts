/** The time of the server, as its answers say, because the clock of a browser may be minutes wrong. */
export interface ServerClock {
  /** Ms since the Unix epoch. */
  readonly nowMs: () => number;
  /** Learns from the header `Date` of an answer that has just arrived. */
  readonly learn: (date: string | null) => void;
}

/** The header has whole seconds, and the answer took some time. A smaller difference says nothing. */
const TOLERATED_MS = 5000;

/** @param browserMs the time of the browser, ms since the Unix epoch */
export function createServerClock(browserMs: () => number): ServerClock {
  let aheadMs = 0;
  return {
    nowMs: () => browserMs() + aheadMs,
    learn(date) {
      const differenceMs = Date.parse(date ?? '') - browserMs();
      if (Number.isNaN(differenceMs)) return;
      aheadMs = Math.abs(differenceMs) > TOLERATED_MS ? differenceMs : 0;
    },
  };
}
