import { sql, type Kysely } from 'kysely';

/**
 * What each change was made to, and what that was before and after, so that a change is published
 * alone, and so that the outbox is the history of the versions.
 *
 * `kind`: service, route, token, environment, or all where it cannot be said; null in rows of a
 * control plane of the version before, which is taken as all. `before` and `after`: the whole stored
 * row of a service or a route, sealed secrets included, null where there was none; always null for the
 * other kinds. `jsonb_populate_record` makes a row of them again.
 *
 * `snapshot_version`, `snapshot_at`, `snapshot_cost_ms`: the newest version that was published as a
 * whole snapshot, when, and what making it took. Versions above it were published as deltas.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE config_outbox
      ADD COLUMN kind text COLLATE "C"
        CHECK (kind IN ('service', 'route', 'token', 'environment', 'all')),
      ADD COLUMN entity_id text COLLATE "C",
      ADD COLUMN before jsonb,
      ADD COLUMN after jsonb
  `.execute(db);
  await sql`
    ALTER TABLE environments
      ADD COLUMN snapshot_version bigint NOT NULL DEFAULT 0,
      ADD COLUMN snapshot_at timestamptz,
      ADD COLUMN snapshot_cost_ms integer NOT NULL DEFAULT 0
  `.execute(db);
}
