import { pause, type Clock } from '@gateway/shared/clock';

/** Ends the waits of a feed as soon as a message arrives. */
export class ArrivalSignal {
  readonly #clock: Clock;
  #count = 0;
  #wake = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Messages that arrived so far. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    this.endWaits();
    this.#wake = new AbortController();
  }

  endWaits(): void {
    this.#wake.abort();
  }

  /** Waits until a message arrives or the time is over. Returns whether none arrived. */
  async nothingWithin(delayMs: number): Promise<boolean> {
    const before = this.#count;
    await pause(this.#clock, delayMs, this.#wake.signal);
    return this.#count === before;
  }
}
