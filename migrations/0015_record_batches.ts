import { sql, type Kysely } from 'kysely';

/**
 * Which batches of request records have arrived from each data-plane process, so that lost ones can be counted. Batches
 * arrive in any order, at any control plane and sometimes twice; a set of ranges is the same whatever the order.
 *
 * A process that loses nothing has one range. `missing` counts the gaps that were closed so that a row stays small.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE record_batches (
      process text COLLATE "C" PRIMARY KEY,
      received int8multirange NOT NULL,
      missing bigint NOT NULL DEFAULT 0,
      received_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)
  `.execute(db);
}
