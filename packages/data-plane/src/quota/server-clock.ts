import { pause, type Clock } from '@gateway/shared/clock';

/** Where the ledger's clock stands beside the local one. */
export interface ServerClockOptions {
  /** ms that the ledger's clock is ahead; undefined until it was read. */
  readonly serverTimeOffsetMs: () => number | undefined;
  /** How far that may be from the truth, ms; undefined until it was read. */
  readonly serverTimeErrorMs: () => number | undefined;
}

const REFRESH_MS = 200;
/** For what the two clocks drift apart between readings: 50 parts per million over 100 s. */
const DRIFT_MS = 5;

/** The time by which all data planes cut windows, from the local wall clock. Undefined offsets count as 0. */
export class ServerClock {
  readonly #options: ServerClockOptions;
  #offsetMs = 0;
  #refreshedAtMs = -Infinity;
  /** By how much the time may be wrong: a lease is used only this far within its window. */
  marginMs = DRIFT_MS;

  constructor(options: ServerClockOptions) {
    this.#options = options;
  }

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

/** Resolves when the ledger's clock has been read, or `timeoutMs` are over. */
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
