import { sql, type Kysely } from 'kysely';

/**
 * An environment whose name was used before is a new environment. Its row has an id of its own, and where its history
 * begins in the sequence of changes:
 *
 * - `first_change`: the row of `config_outbox` that created it. All changes of environments that had the name before
 *   have lower ids, because such an environment was deleted, empty, before this one was created. No clock is compared.
 * - `first_version`: the version that published this change; null until then. Requests that data planes served with a
 *   lower version belong to an environment that had the name before.
 * - `recreated`: another environment had the name before.
 * - `unplaced_from`: set if it was created again before this migration. What has no place in the sequence, because it was
 *   stored before, is its own from this time on. Null: then all of that belongs to another environment.
 *
 * Triggers keep these columns, so that they are right while the release before runs as well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIds(db);
  await sql`
    ALTER TABLE environments
      ADD COLUMN id text COLLATE "C" NOT NULL DEFAULT new_environment_id(),
      ADD COLUMN first_change bigint NOT NULL DEFAULT 0,
      ADD COLUMN first_version bigint DEFAULT 1,
      ADD COLUMN recreated boolean NOT NULL DEFAULT false,
      ADD COLUMN unplaced_from timestamptz
  `.execute(db);
  await createTriggers(db);
  // The place of an event among the changes. Events of the time before have none. The default is set afterwards,
  // because it would rewrite the table.
  await sql`ALTER TABLE audit_events ADD COLUMN change_id bigint`.execute(db);
  await sql`
    ALTER TABLE audit_events ALTER COLUMN change_id SET DEFAULT nextval('config_outbox_id_seq')
  `.execute(db);
  // Null: the first environment of the name, or one that was created again before.
  await sql`ALTER TABLE statistics_series ADD COLUMN environment_id text COLLATE "C"`.execute(db);
  await findFormerRecreations(db);
}

/** Ids have the form of `createIdFactory`. They need not be secret. */
async function createIds(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION new_environment_id() RETURNS text LANGUAGE sql VOLATILE AS $$
      SELECT 'env_' || string_agg(
        substr('0123456789abcdefghjkmnpqrstvwxyz'::text, digit::integer + 1, 1), '' ORDER BY place
      )
      FROM (
        SELECT place, (floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint
          >> (5 * (9 - place))) & 31 AS digit
        FROM generate_series(0, 9) AS place
        UNION ALL
        SELECT place, floor(random() * 32)::bigint FROM generate_series(10, 25) AS place
      ) AS digits (place, digit)
    $$
  `.execute(db);
}

async function createTriggers(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION recreate_environment() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.id := new_environment_id();
      NEW.recreated := true;
      NEW.unplaced_from := NULL;
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER environments_recreate BEFORE UPDATE OF deleted_at ON environments
    FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL)
    EXECUTE FUNCTION recreate_environment()
  `.execute(db);
  await sql`
    CREATE FUNCTION begin_environment() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE environments SET first_change = NEW.id, first_version = NEW.published_version
      WHERE name = NEW.environment AND first_change <= NEW.id;
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER config_outbox_begin_environment
    AFTER INSERT OR UPDATE OF published_version ON config_outbox
    FOR EACH ROW WHEN (NEW.action = 'environment.created')
    EXECUTE FUNCTION begin_environment()
  `.execute(db);
}

/**
 * Environments that were created again before: their changes and versions begin with their creation, if the history
 * still has it, else with the first version after it.
 */
async function findFormerRecreations(db: Kysely<unknown>): Promise<void> {
  await sql`
    UPDATE environments SET recreated = true, unplaced_from = created_at,
      first_change = coalesce(creation.id, 0),
      first_version = CASE WHEN creation.id IS NOT NULL THEN creation.published_version ELSE (
        SELECT min(version) FROM config_versions
        WHERE environment = environments.name AND published_at >= environments.created_at
      ) END
    FROM (
      SELECT name FROM environments WHERE EXISTS (
        SELECT FROM audit_events
        WHERE resource_id = environments.name AND action = 'environment.deleted'
      )
    ) AS present
    LEFT JOIN LATERAL (
      SELECT id, published_version FROM config_outbox
      WHERE environment = present.name AND action = 'environment.created'
      ORDER BY id DESC LIMIT 1
    ) AS creation ON true
    WHERE environments.name = present.name
  `.execute(db);
}
