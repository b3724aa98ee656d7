/** Sends one request; the function is called once, when its response is complete or cannot come any more. */
export type Send = (done: (isGood: boolean) => void) => void;

export interface TurnOptions {
  readonly perSecond: number;
  readonly seconds: number;
  readonly startMs: number;
  /** Called with the time from when a request was due to its good response. */
  readonly answered: (latencyMs: number) => void;
}

/** Requests are due in groups, one group for each tick. */
export const TICK_MS = 0.25;

/**
 * Requests at a constant rate. The latency of a request is counted from the time at which it was due, whether or not the
 * process, a connection or the proxy was free then: a stall counts for every request that would have been sent during it.
 */
export class RequestTurn {
  readonly #options: TurnOptions;
  readonly #send: Send;
  readonly #nowMs: () => number;
  readonly #total: number;
  /** Resolves when every request of the turn has been answered. */
  readonly allAnswered: Promise<void>;
  #resolveAll: () => void = () => undefined;
  #sent = 0;
  #good = 0;
  #answered = 0;
  #hasEnded = false;

  constructor(options: TurnOptions, send: Send, nowMs: () => number) {
    this.#options = options;
    this.#send = send;
    this.#nowMs = nowMs;
    this.#total = Math.round(options.perSecond * options.seconds);
    this.allAnswered = new Promise((resolve) => (this.#resolveAll = resolve));
  }

  /** Sends what is due. */
  tick(): void {
    const { perSecond, startMs } = this.#options;
    for (const nowMs = this.#nowMs(); this.#sent < this.#total;) {
      const slot = Math.ceil((this.#sent * 1000) / perSecond / TICK_MS);
      const dueMs = startMs + slot * TICK_MS;
      if (dueMs > nowMs) return;
      this.#sent += 1;
      this.#send((isGood) => this.#onAnswer(isGood, dueMs));
    }
  }

  /** Returns how many requests failed. Those without a good response until now have; what comes later does not count. */
  end(): number {
    this.#hasEnded = true;
    return this.#total - this.#good;
  }

  #onAnswer(isGood: boolean, dueMs: number): void {
    if (this.#hasEnded) return;
    if (isGood) {
      this.#good += 1;
      this.#options.answered(this.#nowMs() - dueMs);
    }
    this.#answered += 1;
    if (this.#answered === this.#total) this.#resolveAll();
  }
}
