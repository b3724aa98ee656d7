/**
 * One reading of the NATS server's clock: it read `serverMs` at some time between `sentAtMs` and
 * `receivedAtMs`. Those are monotonic times: a change of the wall clock must not move quota windows.
 */
export interface ServerTimeSample {
  readonly sentAtMs: number;
  readonly receivedAtMs: number;
  readonly serverMs: number;
}

interface Estimate {
  readonly offsetMs: number;
  /** The true offset is no further away than this. */
  readonly errorMs: number;
}

const KEPT_SAMPLES = 10;
/** The server's timestamps are whole milliseconds, and so is the local wall clock. */
const RESOLUTION_MS = 2;

/**
 * Estimates how far the NATS server's clock is ahead of the local one, from the most exact of the last
 * readings. Source: the clock filter of NTP (RFC 5905 section 10): the sample with the least delay is best.
 */
export class ServerTime {
  #estimates: Estimate[] = [];

  add({ sentAtMs, receivedAtMs, serverMs }: ServerTimeSample): void {
    const estimate = {
      offsetMs: serverMs - (sentAtMs + receivedAtMs) / 2,
      errorMs: (receivedAtMs - sentAtMs) / 2 + RESOLUTION_MS,
    };
    // Readings contradict each other if the server's clock was set between them; the new one counts.
    this.#estimates = this.#estimates.filter((other) => agree(other, estimate));
    this.#estimates.push(estimate);
    if (this.#estimates.length > KEPT_SAMPLES) this.#estimates.shift();
  }

  /** Milliseconds to add to the monotonic clock; undefined before the first reading. */
  get offsetMs(): number | undefined {
    return this.#best()?.offsetMs;
  }

  /** Bound of the offset's error, ms; undefined before the first reading. */
  get errorMs(): number | undefined {
    return this.#best()?.errorMs;
  }

  #best(): Estimate | undefined {
    let best: Estimate | undefined;
    for (const one of this.#estimates) {
      if (best === undefined || one.errorMs <= best.errorMs) best = one;
    }
    return best;
  }
}

function agree(one: Estimate, other: Estimate): boolean {
  return Math.abs(one.offsetMs - other.offsetMs) <= one.errorMs + other.errorMs;
}
