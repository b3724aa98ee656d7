import { sql, type Kysely } from 'kysely';

/**
 * When each token was last used, and one row for each change through the management API.
 *
 * `environments` and `routes` of an event are what a token must reach to see it: those of the
 * resource, before the change and after it.
 *
 * `before` and `after` are kept as text, so that fields stay in the order of the API.
 *
 * Events are partitioned by the UTC month in which they occurred. This month and the next have theirs
 * at once, so that no event waits in the DEFAULT partition, from which it would have to be moved.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE tokens ADD COLUMN last_used_at timestamptz`.execute(db);
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
  await sql`
    DO $$
    DECLARE
      this_month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
      month timestamp;
    BEGIN
      FOREACH month IN ARRAY ARRAY[this_month, this_month + interval '1 month'] LOOP
        EXECUTE format(
          'CREATE TABLE %I PARTITION OF audit_events FOR VALUES FROM (%L) TO (%L)',
          'audit_events_' || to_char(month, 'YYYYMM'),
          month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC'
        );
      END LOOP;
    END
    $$
  `.execute(db);
}
