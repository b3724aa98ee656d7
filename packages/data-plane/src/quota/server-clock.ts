import { pause, type Clock } from '@gateway/shared/clock';

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

/** Converts the local wall clock to the clock of the ledger, by which windows start. An unknown offset counts as 0. */
export class ServerClock {
  readonly #options: ServerClockOptions;
  #offsetMs = 0;
  #refreshedAtMs = -Infinity;
  /** How far the time may be wrong, ms. A lease is not used within this time of the ends of its window. */
  marginMs = DRIFT_MS;

  constructor(options: ServerClockOptions) {
    this.#options = options;
  }

  /** The time by the clock of the ledger. */
  serverMs(nowMs: number): number {
    const sinceMs = nowMs - this.#refreshedAtMs;
    if (sinceMs >= REFRESH_MS || sinceMs < 0) {
      this.#offsetMs = this.#options.serverTimeOffsetMs() ?? 0;
      this.marginMs = (this.#options.serverTimeErrorMs() ?? 0) + DRIFT_MS;
      this.#refreshedAtMs = nowMs;
    }
    return nowMs + this.#offsetMs;
  }
}

const POLL_MS = 10;

/** Resolves when the clock of the ledger was read, at the latest after `timeoutMs`. */
export async function whenTimeKnown(
  time: Pick<ServerClockOptions, 'serverTimeOffsetMs'>,
  clock: Clock,
  timeoutMs: number,
): Promise<void> {
  const endMs = clock.monotonicMs() + timeoutMs;
  while (time.serverTimeOffsetMs() === undefined && clock.monotonicMs() < endMs) {
    await pause(clock, POLL_MS);
  }
}
