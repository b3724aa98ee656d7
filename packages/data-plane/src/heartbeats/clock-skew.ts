import type { Logger } from '@gateway/shared/telemetry/logger';

/** Clocks that are further apart deserve an operator: tokens expire and records are dated by them. */
export const MAX_CLOCK_SKEW_MS = 2000;

/** What to say of a clock that is off; undefined where it is not, or where that is not known. */
export function describeSkew(serverAheadMs: number | undefined): string | undefined {
  if (serverAheadMs === undefined || Math.abs(serverAheadMs) <= MAX_CLOCK_SKEW_MS) return undefined;
  const seconds = Math.round(Math.abs(serverAheadMs) / 1000);
  return `the clock is ${seconds} s ${serverAheadMs > 0 ? 'behind' : 'ahead of'} that of NATS`;
}

/** Says it once in the log when the clock is off, and once when it is right again. */
export class SkewLog {
  readonly #log: Logger;
  #off = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param serverAheadMs how far the NATS server's clock is ahead; undefined while not known */
  read(serverAheadMs: number | undefined): void {
    const off = describeSkew(serverAheadMs) !== undefined;
    if (off === this.#off) return;
    this.#off = off;
    const fields = { server_ahead_ms: Math.round(serverAheadMs ?? 0) };
    if (off) this.#log.warn(fields, 'the clock of this data plane and that of NATS are apart');
    else this.#log.info(fields, 'the clock of this data plane is right again');
  }
}
