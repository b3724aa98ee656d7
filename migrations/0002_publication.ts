import { sql, type Kysely } from 'kysely';

/** The outbox from which changes are published, and the versions that were published. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createOutbox(db);
  await createVersions(db);
}

/**
 * One row for each change in each of its environments. The rows are also the history of the versions:
 * `before` and `after` are the whole row of a service or a route with its encrypted secrets, null if it did
 * not exist, and always null for other kinds; `jsonb_populate_record` converts them to rows. `token_id`: who
 * made the change; null: the control plane itself.
 */
async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE config_outbox (
      id bigserial PRIMARY KEY,
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      action text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL
        CHECK (kind IN ('service', 'route', 'token', 'environment')),
      entity_id text COLLATE "C" NOT NULL,
      before jsonb,
      after jsonb,
      token_id text COLLATE "C",
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      published_version bigint
    )
  `.execute(db);
  await sql`
    CREATE INDEX config_outbox_pending ON config_outbox (environment, id)
    WHERE published_version IS NULL
  `.execute(db);
  await sql`
    CREATE INDEX config_outbox_history ON config_outbox (environment, published_version, id)
  `.execute(db);
  // Delivered after the commit, so the receiver can read the change.
  await sql`
    CREATE FUNCTION notify_config_outbox() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('config_outbox', NEW.environment);
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER config_outbox_notify AFTER INSERT ON config_outbox
    FOR EACH ROW EXECUTE FUNCTION notify_config_outbox()
  `.execute(db);
}

/** The changes of a version are in `config_outbox`, by `published_version`. `why`: the reason of the publication. */
async function createVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE config_versions (
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      version bigint NOT NULL,
      published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      why text NOT NULL,
      PRIMARY KEY (environment, version)
    )
  `.execute(db);
}
