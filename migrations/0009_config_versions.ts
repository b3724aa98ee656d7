import { sql, type Kysely } from 'kysely';

/**
 * The versions of each environment's configuration, so that they can be listed, compared and rolled
 * back to. What each of them changed is in `config_outbox`, by `published_version`.
 *
 * `why`: as in the log line of the publication; `history_begins` for the version that was the newest
 * when this table was made. `token_id` of a change: who made it; null for what no token did.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE config_versions (
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      version bigint NOT NULL,
      published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      why text NOT NULL,
      PRIMARY KEY (environment, version)
    )
  `.execute(db);
  await sql`ALTER TABLE config_outbox ADD COLUMN token_id text COLLATE "C"`.execute(db);
  await sql`
    CREATE INDEX config_outbox_history ON config_outbox (environment, published_version, id)
  `.execute(db);
  // Changes of which it is not known what they were made to: no version before them can be restored.
  await sql`
    CREATE INDEX config_outbox_unknown ON config_outbox (environment, published_version)
    WHERE kind IS NULL OR kind = 'all'
  `.execute(db);
  await sql`
    INSERT INTO config_versions (environment, version, published_at, why)
    SELECT name, config_version, coalesce(
        (SELECT max(o.created_at) FROM config_outbox o
          WHERE o.environment = name AND o.published_version = config_version),
        clock_timestamp()), 'history_begins'
    FROM environments WHERE config_version > 0
  `.execute(db);
}
