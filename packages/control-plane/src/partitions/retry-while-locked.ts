import { pause, type Clock } from '@gateway/shared/clock';
import type { Locked } from './store/partitions.ts';

/**
 * How long each attempt waits for the lock of the table. Between two attempts the other users have the
 * table for four times as long. The first attempts are short, like the queries of the API and the ingest. A
 * client that reads the table for hours, such as a dump, delays writers by less than a second in a run.
 */
const LOCK_TIMEOUTS_MS = [25, 50, 100, 200, 400];
const PAUSE_FACTOR = 4;

/**
 * Retries a change of partitions until it gets its locks.
 *
 * @returns undefined if the signal aborted.
 * @throws if the table stayed in use.
 */
export async function retryWhileLocked<T>(
  step: (lockTimeoutMs: number) => Promise<T | Locked>,
  clock: Clock,
  signal: AbortSignal,
): Promise<Exclude<T, Locked> | undefined> {
  for (const lockTimeoutMs of LOCK_TIMEOUTS_MS) {
    if (signal.aborted) return undefined;
    const result = await step(lockTimeoutMs);
    if (result !== 'locked') return result as Exclude<T, Locked>;
    await pause(clock, lockTimeoutMs * PAUSE_FACTOR, signal);
  }
  throw new Error('partitions not changed: the table stayed in use');
}
