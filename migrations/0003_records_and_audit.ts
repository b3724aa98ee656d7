import { sql, type Kysely } from 'kysely';

/**
 * Request records and audit events. Both are partitioned by time, so that retention drops whole partitions.
 * The control plane creates the partitions; a row without one goes to the DEFAULT partition, so no row is
 * refused.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRequestRecords(db);
  await createAuditEvents(db);
}

/**
 * One row for each proxied request, partitioned by the UTC day on which it was received. `received_at`
 * is the time within `id`, so a lookup by id finds its partition.
 *
 * The indexes serve the filters of lists. They do not contain the id, so records of the same millisecond
 * share an entry and an index has a quarter of the size; these few records are sorted when they are read.
 * Successes are not in the indexes of status and outcome: a list of them is found among the newest records.
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
  // Serves the records of a route in one environment and in all environments.
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
 * A token must cover `environments` and `routes` to see the event: those of the resource before and after
 * the change. `before` and `after` are json, not jsonb, which keeps the order of fields of the API.
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
