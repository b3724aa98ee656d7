import type { Clock } from '@gateway/shared/clock';

/** The clock of the ledger, relative to the local one. */
export interface ServerClockOptions {
  /** How far the clock of the ledger is ahead, ms; undefined until it was read. */
  readonly serverTimeOffsetMs: () => number | undefined;
  /** How far the offset may be wrong, ms; undefined until it was read. */
  readonly serverTimeErrorMs: () => number | undefined;
}

const REFRESH_MS = 200;
/** How far the two clocks may drift apart between two readings: 50 parts per million over 100 s. */
const DRIFT_MS = 5;
/** If the local wall clock and the monotonic one differ by so much more than before, the wall clock was set. */
const SET_MS = 2;

/** Converts the local wall clock to the clock of the ledger, by which windows start. An unknown offset counts as 0. */
export class ServerClock {
  readonly #options: ServerClockOptions;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #offsetMs = 0;
  #refreshedAtMs = -Infinity;
  /** The wall clock minus the monotonic one at that time. */
  #gapMs = 0;
  /** How far the time may be wrong, ms. A lease is not used within this time of the ends of its window. */
  marginMs = DRIFT_MS;

  constructor(options: ServerClockOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * The time by the clock of the ledger.
   *
   * @param nowMs by the local wall clock
   */
  serverMs(nowMs: number): number {
    const monotonicMs = this.#clock.monotonicMs();
    const gapMs = nowMs - monotonicMs;
    const wasSet = Math.abs(gapMs - this.#gapMs) > SET_MS;
    if (wasSet || monotonicMs - this.#refreshedAtMs >= REFRESH_MS) {
      this.#offsetMs = this.#options.serverTimeOffsetMs() ?? 0;
      this.marginMs = (this.#options.serverTimeErrorMs() ?? 0) + DRIFT_MS;
      this.#refreshedAtMs = monotonicMs;
      this.#gapMs = gapMs;
    }
    return nowMs + this.#offsetMs;
  }
}
