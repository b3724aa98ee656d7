import type { Clock } from '@gateway/shared/clock';

/** Between two looks, ms: growing, as most requests end soon and the others take their time. */
const FIRST_MS = 10;
const MAX_MS = 200;
const GROWTH = 1.5;

/**
 * Looks at names again and again for those who wait for a change. All that wait for one name share
 * each look, so that a hundred duplicates cost as much as one.
 */
export class Polls<T> {
  readonly #clock: Clock;
  readonly #look: (name: string) => Promise<T>;
  readonly #pending = new Map<string, Promise<T>>();

  constructor(clock: Clock, look: (name: string) => Promise<T>) {
    this.#clock = clock;
    this.#look = look;
  }

  /**
   * What a look finds that begins after now.
   *
   * @param looks how many the caller has had; the first caller of several sets the pace
   */
  next(name: string, looks: number): Promise<T> {
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const delayMs = Math.min(MAX_MS, FIRST_MS * GROWTH ** looks);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.set(name, promise);
    this.#clock.setTimer(delayMs, () => {
      // Who comes from now on might see what was there before, so it has a look of its own.
      this.#pending.delete(name);
      this.#look(name).then(resolve, reject);
    });
    return promise;
  }
}
