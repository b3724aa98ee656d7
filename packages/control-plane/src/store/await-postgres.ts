import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { isTableBusy, isTooSlow, isUnavailable } from './failures.ts';

const RETRY_MS = 500;
/** While a migration waits for a table, others wait behind it; between two attempts they have it four times as long. */
const BUSY_RETRY_MS = 8000;
const LOG_EVERY_ATTEMPTS = 20;

interface AwaitDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called with the reason of each attempt that failed. */
  readonly onFault: (reason: string) => void;
}

/**
 * Runs `work` until it succeeds, however long Postgres is unavailable. Any other error, such as that of a
 * failed migration, is thrown.
 *
 * @throws the signal's reason once the signal aborts.
 */
export async function awaitPostgres<T>(work: () => Promise<T>, deps: AwaitDeps): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    deps.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      deps.onFault(reason);
      if (isTooSlow(error)) {
        deps.log.warn({ reason }, 'Postgres too slow, or a table in use; retrying the start');
      } else if (attempt % LOG_EVERY_ATTEMPTS === 0) {
        deps.log.warn({ reason }, 'Postgres unreachable; waiting for it');
      }
      await pause(deps.clock, isTableBusy(error) ? BUSY_RETRY_MS : RETRY_MS, deps.signal);
    }
  }
}
