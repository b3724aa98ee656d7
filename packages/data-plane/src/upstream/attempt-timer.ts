import type { Clock, Timer } from '@gateway/shared/clock';
import type { StandingClock } from './standing-clock.ts';

/** What the timer of an attempt asks of it. */
export interface TimedAttempt {
  /** Whether the timer is still needed. */
  readonly wanted: boolean;
  /** Its time is over. */
  expired(): void;
  /** Calls what no event of a connection calls. */
  run(run: () => void): void;
}

/** Bounds the time of an attempt until the head of its response. */
export class AttemptTimer {
  readonly #attempt: TimedAttempt;
  readonly #clock: Clock;
  readonly #standing: StandingClock | undefined;
  #timer: Timer;

  /** @param standing undefined: no caller is awaited */
  constructor(
    attempt: TimedAttempt,
    clock: Clock,
    timeoutMs: number,
    standing: StandingClock | undefined,
  ) {
    this.#attempt = attempt;
    this.#clock = clock;
    this.#standing = standing;
    this.#timer = this.#set(timeoutMs);
  }

  cancel(): void {
    this.#timer.cancel();
  }

  /** Call it when the time is over. If its clock stood meanwhile, the timer goes on with the rest, and this is true. */
  goesOn(): boolean {
    const goOn = (leftMs: number) => {
      if (this.#attempt.wanted) this.#timer = this.#set(leftMs);
    };
    return this.#standing?.hasTimeLeft(this.#clock.monotonicMs(), goOn) === true;
  }

  #set(delayMs: number): Timer {
    return this.#clock.setTimer(delayMs, () => {
      this.#attempt.run(() => {
        this.#attempt.expired();
      });
    });
  }
}
