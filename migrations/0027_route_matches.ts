import { sql, type Kysely } from 'kysely';
import { addSetting } from './add-setting.ts';

const addMatch = addSetting('routes', 'match');

/**
 * The hosts, paths and headers by which requests reach a route; and the single conditions of all routes, by which two that
 * no request can tell apart are found. A trigger maintains them, so the release before keeps them true while it still
 * runs.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addMatch(db);
  await sql`
    CREATE TABLE route_matches (
      route_id text COLLATE "C" NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
      environment text COLLATE "C" NOT NULL,
      host text COLLATE "C" NOT NULL,
      is_exact boolean NOT NULL,
      path text COLLATE "C" NOT NULL,
      headers jsonb NOT NULL
    )
  `.execute(db);
  await sql`CREATE INDEX route_matches_by_route ON route_matches (route_id)`.execute(db);
  await sql`CREATE INDEX route_matches_by_host ON route_matches (host, path)`.execute(db);
  // Finds the names below a host.
  await sql`CREATE INDEX route_matches_by_domain ON route_matches (reverse(host) COLLATE "C")`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION keep_route_matches() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM route_matches WHERE route_id = NEW.id;
      INSERT INTO route_matches (route_id, environment, host, is_exact, path, headers)
      SELECT NEW.id, NEW.environment, hosts.host, paths.path ? 'exact',
        coalesce(paths.path ->> 'exact', paths.path ->> 'prefix'),
        (SELECT coalesce(jsonb_object_agg(lower(header ->> 'name'), header ->> 'value'), '{}')
          FROM jsonb_array_elements(matches.match -> 'headers') AS header)
      FROM jsonb_array_elements(NEW.match) AS matches (match),
        jsonb_array_elements_text(
          CASE matches.match -> 'hosts' WHEN '[]' THEN '[""]' ELSE matches.match -> 'hosts' END
        ) AS hosts (host),
        jsonb_array_elements(
          CASE matches.match -> 'paths' WHEN '[]' THEN '[{"prefix":"/"}]' ELSE matches.match -> 'paths' END
        ) AS paths (path);
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER routes_keep_matches
    AFTER INSERT OR UPDATE OF match, environment ON routes
    FOR EACH ROW EXECUTE FUNCTION keep_route_matches()
  `.execute(db);
}
