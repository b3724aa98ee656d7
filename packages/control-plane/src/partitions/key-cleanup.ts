import { Counter, type Registry } from 'prom-client';
import type { Clock } from '@gateway/shared/clock';
import type { Database } from '../store/database.ts';
import {
  deleteExpiredKeys,
  dropOldestKeys,
  eraseSecrets,
  type KeyBounds,
} from '../http/idempotency/store/clean-keys.ts';

/** The bounds of the idempotency keys of management calls. */
export const KEY_BOUNDS: KeyBounds = { maxKeys: 100_000, maxBytes: 256 * 1024 * 1024 };

export interface KeyCleanupOptions {
  readonly db: Database;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly droppedKeys?: Counter | undefined;
}

/** Counts the keys that were dropped before a day had passed. */
export function createDroppedKeys(registry: Registry): Counter {
  return new Counter({
    name: 'gateway_control_plane_idempotency_keys_dropped_total',
    help: 'Idempotency keys of management calls that were dropped within 24 h, because there were too many',
    registers: [registry],
  });
}

/**
 * Erases secrets that are not shown again, deletes expired keys, and drops the oldest ones above the bounds. Any number
 * of control planes may run it side by side.
 *
 * @throws if Postgres fails
 */
export async function cleanIdempotencyKeys(
  { db, clock, droppedKeys }: KeyCleanupOptions,
  signal: AbortSignal,
  bounds = KEY_BOUNDS,
): Promise<void> {
  const now = new Date(clock.nowMs());
  while (!signal.aborted && (await eraseSecrets(db, now)) > 0);
  while (!signal.aborted && (await deleteExpiredKeys(db, now)) > 0);
  for (let dropped = -1; !signal.aborted && dropped !== 0;) {
    dropped = await dropOldestKeys(db, bounds);
    droppedKeys?.inc(dropped);
  }
}
