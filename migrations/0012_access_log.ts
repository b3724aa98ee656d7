import { sql, type Kysely } from 'kysely';

/** Which requests of a route have a log line. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE routes ADD COLUMN access_log jsonb NOT NULL DEFAULT
      '{"enabled": true, "sample_ratio": 1}'
  `.execute(db);
}
