import { sql, type Kysely } from 'kysely';

/**
 * Indexes of request records for lists, by what operators filter by. Without the id, so that records of
 * one millisecond share an entry and an index is a quarter of its size; the few records of that
 * millisecond are sorted as they are read. Of statuses and outcomes only what is no usual success has
 * an entry: the others are found at once by going through the newest.
 *
 * While the indexes of a large table are built no record is stored; they wait in the stream.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const old of ['by_environment', 'by_route', 'failed']) {
    await sql`DROP INDEX ${sql.id(`request_records_${old}`)}`.execute(db);
  }
  await sql`
    CREATE INDEX request_records_by_environment ON request_records (environment, received_at)
  `.execute(db);
  await sql`
    CREATE INDEX request_records_by_route ON request_records (environment, route, received_at)
  `.execute(db);
  await sql`
    CREATE INDEX request_records_by_status
    ON request_records (status, received_at) WHERE status <> 200
  `.execute(db);
  await sql`
    CREATE INDEX request_records_by_outcome
    ON request_records (outcome, received_at) WHERE outcome <> 'success'
  `.execute(db);
}
