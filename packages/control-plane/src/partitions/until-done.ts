import { pause, type Clock } from '@gateway/shared/clock';
import type { PartitionChange } from '../store/partitions/partitions.ts';

/** While another process is at it. */
const BUSY_ATTEMPTS = 20;
const BUSY_RETRY_MS = 250;
/**
 * How long each try waits for a table that is in use, and how many times as long its users have it to
 * themselves before the next one. Short first: what the API and the ingest do takes no longer, and who
 * reads the table for hours, such as a dump, holds writers up for less than a second in a run.
 */
const LOCK_TIMEOUTS_MS = [25, 50, 100, 200, 400];
const LOCK_REST = 4;

/** A change of partitions did not come to its turn; nothing is wrong with it. */
export class NoTurnError extends Error {
  constructor(stayed: 'busy' | 'locked') {
    super(`a change of partitions stayed ${stayed}`);
    this.name = 'NoTurnError';
  }
}

/**
 * Tries a change of partitions until it is done; gives whether it was this process that did it. `late`
 * is left to a later run, which sees that there are rows to be moved.
 *
 * @throws {NoTurnError} where the table stayed in use.
 */
export async function untilDone(
  step: (lockTimeoutMs: number) => Promise<PartitionChange | 'late'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  let busy = 0;
  let locked = 0;
  while (!signal.aborted) {
    const lockTimeoutMs = LOCK_TIMEOUTS_MS[locked] ?? 0;
    const result = await step(lockTimeoutMs);
    if (result !== 'busy' && result !== 'locked') return result === 'done';
    if (result === 'busy') busy += 1;
    else locked += 1;
    if (busy === BUSY_ATTEMPTS || locked === LOCK_TIMEOUTS_MS.length) {
      throw new NoTurnError(result);
    }
    const restMs = result === 'busy' ? BUSY_RETRY_MS : lockTimeoutMs * LOCK_REST;
    await pause(clock, restMs, signal);
  }
  return false;
}
