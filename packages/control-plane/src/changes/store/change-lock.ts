import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { isLockTimeout } from '../../store/failures.ts';
import { LOCK_CLASS } from '../../store/locks.ts';

/**
 * The lock that a change takes before it locks any row.
 *
 * - `configuration`: shared by the changes of single services and routes, so that a change of many can exclude them.
 * - `configuration-exclusive`: the same lock, exclusively. A plan for many rows is made from what they are.
 * - `environments`: exclusive. It is held while an environment is created or a token of all
 *   environments changes; without it a new environment could miss such a token for good.
 */
export type ChangeLock = 'configuration' | 'configuration-exclusive' | 'environments';

/** How long one try for the exclusive lock waits, ms: until the single changes that run have ended. */
const EXCLUSIVE_TRY_MS = 1000;

/** Another change holds the lock of the configuration. */
export class LockBusyError extends Error {}

/** Takes the lock until the end of the transaction. It waits as long as a statement may take. */
export async function takeLock(transaction: Database, lock: ChangeLock): Promise<void> {
  const take =
    lock === 'configuration' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  const key = lock === 'environments' ? LOCK_CLASS.environments : LOCK_CLASS.configuration;
  await sql`SELECT ${take}(${key}::int, 0)`.execute(transaction);
}

/**
 * As `takeLock`, for a change that is tried again. While another one is applied or rolled back, which may take seconds,
 * changes wait without a connection, except one of many rows: waiting ones would else hold all connections of the pool.
 *
 * @throws LockBusyError
 */
export async function tryLock(transaction: Database, lock: ChangeLock): Promise<void> {
  if (lock === 'environments') return takeLock(transaction, lock);
  // Of the changes of many rows one waits at the database. Single changes could else keep it out.
  const isShared = lock === 'configuration';
  const take = isShared ? sql`pg_try_advisory_xact_lock_shared` : sql`pg_try_advisory_xact_lock`;
  const { rows } = await sql<{ taken: boolean }>`
    SELECT ${take}(${LOCK_CLASS.configuration}::int, ${isShared ? 0 : 1}::int) AS taken
  `.execute(transaction);
  if (rows[0]?.taken !== true) throw new LockBusyError();
  if (isShared) return;
  await sql`SET LOCAL lock_timeout = ${sql.lit(EXCLUSIVE_TRY_MS)}`.execute(transaction);
  try {
    await takeLock(transaction, lock);
  } catch (error) {
    throw isLockTimeout(error) ? new LockBusyError() : error;
  }
  await sql`SET LOCAL lock_timeout = DEFAULT`.execute(transaction);
}
