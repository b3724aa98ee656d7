import { sql, type Kysely } from 'kysely';

/** The version that a rollback restored with a change; null: the change is not of a rollback. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE config_outbox ADD COLUMN restored_version bigint`.execute(db);
}
