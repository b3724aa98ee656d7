import type { Clock, Timer } from '@gateway/shared/clock';
import { StreamProgress } from '../request/stream-progress.ts';

/** An exchange whose silence is bounded. */
export interface WatchedExchange {
  /**
   * How long it may stay as it is, ms.
   *
   * @param progressMs when something went on last; as `nowMs`, by the monotonic clock
   */
  leftMs(progressMs: number, nowMs: number): number;
  /** No time is left. The watch is over, unless this calls `again`. */
  silent(): void;
  /** Calls what no event of a connection calls. */
  run(run: () => void): void;
}

export interface IdleLimits {
  readonly clock: Clock;
  /** How long an exchange may be silent in a case that its route does not say, ms. It is checked at least as often. */
  readonly idleTimeoutMs: number;
}

/** Notices that nothing happens in an exchange. It has one timer, whatever arrives. */
export class IdleWatch {
  readonly #exchange: WatchedExchange;
  readonly #clock: Clock;
  readonly #progress: StreamProgress;
  readonly #checkMs: number;
  #timer: Timer;

  /**
   * @param progress undefined: only what this is told of counts
   */
  constructor(
    exchange: WatchedExchange,
    { clock, idleTimeoutMs }: IdleLimits,
    progress = new StreamProgress(clock),
  ) {
    this.#exchange = exchange;
    this.#clock = clock;
    this.#checkMs = idleTimeoutMs;
    this.#progress = progress;
    progress.progressed();
    this.#timer = this.#wait();
  }

  progressed(): void {
    this.#progress.progressed();
  }

  /** Watches from now on. */
  again(): void {
    this.progressed();
    this.#timer = this.#wait();
  }

  stop(): void {
    this.#timer.cancel();
  }

  get #leftMs(): number {
    return this.#exchange.leftMs(this.#progress.atMs, this.#clock.monotonicMs());
  }

  #wait(leftMs = this.#leftMs): Timer {
    return this.#clock.setTimer(Math.min(leftMs, this.#checkMs), () => {
      this.#exchange.run(() => {
        this.#check();
      });
    });
  }

  #check(): void {
    const leftMs = this.#leftMs;
    if (leftMs > 0) this.#timer = this.#wait(leftMs);
    else this.#exchange.silent();
  }
}
