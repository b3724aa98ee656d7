import { sql } from 'kysely';
import type { Database } from '../../store/database.ts';
import { takeLock } from '../../changes/store/change-lock.ts';

/** The largest number of environments that one transaction removes. */
const BATCH_ENVIRONMENTS = 100;

/**
 * Removes environments that were deleted before `beforeMs`, with their history: a bounded number at a time. By that time
 * nothing that is stored can belong to them, so the next environment of the name needs no place in a history. Its version
 * is above those that NATS and the data planes have.
 *
 * @returns how many were removed
 */
export function forgetEnvironments(db: Database, beforeMs: number): Promise<number> {
  return db.transaction().execute(async (transaction) => {
    await takeLock(transaction, 'environments');
    const { rows } = await sql<{ name: string }>`
      SELECT name FROM environments AS gone
      WHERE deleted_at < ${new Date(beforeMs)} AND NOT EXISTS (
        SELECT FROM config_outbox WHERE environment = gone.name AND published_version IS NULL
      )
      ORDER BY name LIMIT ${BATCH_ENVIRONMENTS} FOR UPDATE
    `.execute(transaction);
    const names = rows.map(({ name }) => name);
    if (names.length === 0) return 0;
    for (const table of ['config_outbox', 'config_versions']) {
      await sql`
        DELETE FROM ${sql.table(table)} WHERE environment = ANY(${names}::text[])
      `.execute(transaction);
    }
    await sql`DELETE FROM environments WHERE name = ANY(${names}::text[])`.execute(transaction);
    return names.length;
  });
}
