import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { isAway } from './failures.ts';

const RETRY_MS = 500;
const LOG_EVERY_ATTEMPTS = 20;

/**
 * Runs `work` until it succeeds, waiting as long as Postgres takes to come. An error of another kind,
 * such as a migration that fails, is thrown: waiting would not mend it.
 *
 * @throws the signal's reason once the signal aborts.
 */
export async function awaitPostgres<T>(
  work: () => Promise<T>,
  parts: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    parts.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (attempt % LOG_EVERY_ATTEMPTS === 0) {
        parts.log.warn({ reason: String(error) }, 'Postgres cannot be reached; waiting for it');
      }
    }
    await pause(parts.clock, RETRY_MS, parts.signal);
  }
}
