import { pause, type Clock } from '@gateway/shared/clock';

/** Tells whoever waits, or is held up by a failure, that something has come. */
export class Arrivals {
  readonly #clock: Clock;
  #count = 0;
  #wake = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** So many have come. */
  get count(): number {
    return this.#count;
  }

  came(): void {
    this.#count += 1;
    this.end();
    this.#wake = new AbortController();
  }

  /** Ends every wait. */
  end(): void {
    this.#wake.abort();
  }

  /** Waits until something comes, or the time is over. Returns whether nothing came. */
  async nothingWithin(delayMs: number): Promise<boolean> {
    const before = this.#count;
    await pause(this.#clock, delayMs, this.#wake.signal);
    return this.#count === before;
  }
}
