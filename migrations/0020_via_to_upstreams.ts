import { sql, type Kysely } from 'kysely';

/** Whether the gateway names itself in Via to the upstreams of a service. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE services ADD COLUMN send_via boolean NOT NULL DEFAULT false`.execute(db);
}
