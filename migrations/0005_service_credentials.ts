import { sql, type Kysely } from 'kysely';

/**
 * What a service's upstreams are sent so that they let the gateway in: null, or
 * `{type, header, set_at, key_id, sealed}`. `sealed` is of no use without the master key `key_id`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE services ADD COLUMN credential jsonb`.execute(db);
}
