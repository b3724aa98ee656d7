import type { Clock } from '@gateway/shared/clock';

/** The time between two reads, ms. It grows, because most requests end soon and the others take long. */
const FIRST_MS = 10;
const MAX_MS = 200;
const GROWTH = 1.5;

/**
 * Reads names at intervals for requests that wait for a change. All that wait for one name share each read, so that a
 * hundred duplicates cost as much as one.
 */
export class DuplicateWaits<T> {
  readonly #clock: Clock;
  readonly #read: (name: string) => Promise<T>;
  readonly #pending = new Map<string, Promise<T>>();

  constructor(clock: Clock, read: (name: string) => Promise<T>) {
    this.#clock = clock;
    this.#read = read;
  }

  /**
   * Returns the result of a read that starts after this call.
   *
   * @param reads how often the caller has read before; the first of several callers sets the delay
   */
  next(name: string, reads: number): Promise<T> {
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const delayMs = Math.min(MAX_MS, FIRST_MS * GROWTH ** reads);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.set(name, promise);
    this.#clock.setTimer(delayMs, () => {
      // A later caller might get an outdated result of this read, so it gets its own.
      this.#pending.delete(name);
      this.#read(name).then(resolve, reject);
    });
    return promise;
  }
}
