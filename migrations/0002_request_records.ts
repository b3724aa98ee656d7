import { sql, type Kysely } from 'kysely';

/**
 * One row for each proxied request, partitioned by the UTC day on which it was received, so that 30
 * days of retention is the drop of a whole table. Days are made ahead by the retention job; what has
 * no partition of its own lands in the DEFAULT one and is moved later, so nothing is ever refused.
 *
 * `received_at` is the time within `id`, so a look-up by id names its partition.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE request_records (
      received_at timestamptz NOT NULL,
      id text COLLATE "C" NOT NULL,
      environment text COLLATE "C",
      route text COLLATE "C",
      status integer,
      outcome text COLLATE "C" NOT NULL,
      document jsonb NOT NULL,
      PRIMARY KEY (received_at, id)
    ) PARTITION BY RANGE (received_at)
  `.execute(db);
  await sql`CREATE TABLE request_records_default PARTITION OF request_records DEFAULT`.execute(db);

  // The lists are newest first. The primary key serves them over all environments; these serve what
  // operators filter by most. Failures are rare and looked for, so they have one of their own.
  await sql`
    CREATE INDEX request_records_by_environment
    ON request_records (environment, received_at, id)
  `.execute(db);
  await sql`
    CREATE INDEX request_records_by_route
    ON request_records (environment, route, received_at, id)
  `.execute(db);
  await sql`
    CREATE INDEX request_records_failed
    ON request_records (received_at, id) WHERE outcome <> 'success'
  `.execute(db);
}
