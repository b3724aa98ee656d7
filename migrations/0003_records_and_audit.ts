import { sql, type Kysely } from 'kysely';

/**
 * Request records and audit events. Both are partitioned by time, so that retention drops whole tables.
 * The control plane makes the partitions; a row that has none goes to the DEFAULT partition, so that
 * nothing is ever refused.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRequestRecords(db);
  await createAuditEvents(db);
}

/**
 * One row for each proxied request, partitioned by the UTC day on which it was received. `received_at`
 * is the time within `id`, so a look-up by id finds its partition.
 *
 * Indexes are for lists, by what operators filter by. They leave the id out, so that records of one
 * millisecond share an entry and an index is a quarter of the size; the few records of that millisecond
 * are sorted as they are read. Common successes are not indexed by status and outcome: a list of them
 * is found at once by reading the newest records.
 */
async function createRequestRecords(db: Kysely<unknown>): Promise<void> {
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
  await sql`
    CREATE INDEX request_records_by_environment ON request_records (environment, received_at)
  `.execute(db);
  // Serves the records of a route both in one environment and in all of them.
  await sql`
    CREATE INDEX request_records_by_route ON request_records (route, received_at, environment)
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

/**
 * One row for each change through the management API, partitioned by the UTC month.
 *
 * `environments` and `routes` are what a token must cover to see the event: those of the resource before
 * and after the change. `before` and `after` are json, not jsonb, which keeps their fields in the order
 * of the API.
 */
async function createAuditEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE audit_events (
      occurred_at timestamptz NOT NULL,
      id text COLLATE "C" NOT NULL,
      action text COLLATE "C" NOT NULL,
      resource_type text COLLATE "C" NOT NULL,
      resource_id text COLLATE "C" NOT NULL,
      environments text[] NOT NULL,
      routes text[] NOT NULL,
      token_id text COLLATE "C",
      client_ip text,
      request_id text COLLATE "C",
      before json,
      after json,
      PRIMARY KEY (occurred_at, id)
    ) PARTITION BY RANGE (occurred_at)
  `.execute(db);
  await sql`CREATE TABLE audit_events_default PARTITION OF audit_events DEFAULT`.execute(db);
  await sql`
    CREATE INDEX audit_events_by_resource ON audit_events (resource_id, occurred_at, id)
  `.execute(db);
  await sql`
    CREATE INDEX audit_events_by_token ON audit_events (token_id, occurred_at, id)
  `.execute(db);
}
