import { sql, type Kysely } from 'kysely';

/**
 * Whether the requests of a series were answered with 429, which the class of the status does not tell. NULL: the release
 * that counted them did not look.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE statistics_series ADD COLUMN is_limited boolean`.execute(db);
}
