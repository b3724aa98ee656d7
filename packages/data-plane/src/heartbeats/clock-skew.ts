import type { Logger } from '@gateway/shared/telemetry/logger';

/** A larger difference is reported to the operator: tokens expire and records are dated by these clocks. */
export const MAX_CLOCK_SKEW_MS = 2000;

/** Describes the clock skew for the operator; undefined if it is small or unknown. */
export function describeSkew(serverAheadMs: number | undefined): string | undefined {
  if (serverAheadMs === undefined || Math.abs(serverAheadMs) <= MAX_CLOCK_SKEW_MS) return undefined;
  const seconds = Math.round(Math.abs(serverAheadMs) / 1000);
  return `the clock is ${seconds} s ${serverAheadMs > 0 ? 'behind' : 'ahead of'} the NATS server's`;
}

/** Logs clock skew once when it begins and once when it ends. */
export class SkewLog {
  readonly #log: Logger;
  #isSkewed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param serverAheadMs how far the NATS server's clock is ahead; undefined while unknown */
  read(serverAheadMs: number | undefined): void {
    const isSkewed = describeSkew(serverAheadMs) !== undefined;
    if (isSkewed === this.#isSkewed) return;
    this.#isSkewed = isSkewed;
    const fields = { server_ahead_ms: Math.round(serverAheadMs ?? 0) };
    if (isSkewed) this.#log.warn(fields, 'clock differs from the clock of the NATS server');
    else this.#log.info(fields, 'clock agrees with the clock of the NATS server again');
  }
}
