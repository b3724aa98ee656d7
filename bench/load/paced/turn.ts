import type { Done } from './caller-connections.ts';

/** The outcome of a request with a good response. */
export const GOOD = '200';

export interface TurnOptions {
  readonly perSecond: number;
  /** Requests of this time at the beginning do not count. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly startMs: number;
  /** Requests are due in groups, one group for each tick. */
  readonly tickMs: number;
  /** Called for each request that counts, with its outcome and the time since it was due. */
  readonly ended: (outcome: string, latencyMs: number) => void;
}

/**
 * Requests at a constant rate. The latency of a request is counted from the time at which it was due, whether or not the
 * process, a connection or the proxy was free then: a stall counts for every request that would have been sent during it.
 */
export class RequestTurn {
  readonly #options: TurnOptions;
  readonly #send: (done: Done) => void;
  readonly #nowMs: () => number;
  readonly #total: number;
  /** Resolves when every request of the turn has ended. */
  readonly allEnded: Promise<void>;
  #resolveAll: () => void = () => undefined;
  #sent = 0;
  #ended = 0;
  #hasEnded = false;
  #counted = 0;

  constructor(options: TurnOptions, send: (done: Done) => void, nowMs: () => number) {
    this.#options = options;
    this.#send = send;
    this.#nowMs = nowMs;
    this.#total = Math.round(options.perSecond * (options.warmUpSeconds + options.seconds));
    this.allEnded = new Promise((resolve) => (this.#resolveAll = resolve));
  }

  /** Sends what is due. */
  tick(): void {
    const { perSecond, startMs, tickMs, warmUpSeconds } = this.#options;
    for (const nowMs = this.#nowMs(); this.#sent < this.#total;) {
      const slot = Math.ceil((this.#sent * 1000) / perSecond / tickMs);
      const dueMs = startMs + slot * tickMs;
      if (dueMs > nowMs) return;
      const counts = this.#sent >= perSecond * warmUpSeconds;
      this.#sent += 1;
      this.#send((outcome) => this.#onEnd(outcome, dueMs, counts));
    }
  }

  /** Returns how many requests that count have not ended; what comes later does not count. */
  end(): number {
    this.#hasEnded = true;
    const { perSecond, seconds } = this.#options;
    return Math.round(perSecond * seconds) - this.#counted;
  }

  #onEnd(outcome: string, dueMs: number, counts: boolean): void {
    if (this.#hasEnded) return;
    if (counts) {
      this.#counted += 1;
      this.#options.ended(outcome, this.#nowMs() - dueMs);
    }
    this.#ended += 1;
    if (this.#ended === this.#total) this.#resolveAll();
  }
}
