import { sql, type Kysely } from 'kysely';

/** Bounds of a service in each data plane; null within them: the bound follows from the settings of the data plane. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE services ADD COLUMN limits jsonb NOT NULL DEFAULT
      '{"max_in_flight": null, "max_connections": null, "max_pending": null, "adaptive": false}'
  `.execute(db);
}
