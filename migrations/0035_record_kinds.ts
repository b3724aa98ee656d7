import { sql, type Kysely } from 'kysely';

/**
 * What a record is of. NULL: a request of a caller, as all records before. A release without the column stores those
 * alone.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE request_records ADD COLUMN kind text COLLATE "C"`.execute(db);
}
