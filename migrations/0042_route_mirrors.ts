import { sql, type Kysely } from 'kysely';
import { addSetting } from './add-setting.ts';

const addMirror = addSetting('routes', 'mirror');

/** The service that gets copies of a route's requests. It is one that the route names, as those of its versions are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addMirror(db);
  // Ordered by id, so that two writers cannot deadlock.
  await sql`
    CREATE OR REPLACE FUNCTION keep_route_services() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM route_services WHERE route_id = NEW.id;
      INSERT INTO route_services (route_id, environment, service_id)
      SELECT NEW.id, NEW.environment, named.service_id
      FROM (
        SELECT NEW.service_id AS service_id
        UNION
        SELECT version ->> 'service_id' FROM jsonb_array_elements(NEW.versions) AS version
        UNION
        SELECT NEW.mirror ->> 'service_id'
      ) AS named
      WHERE named.service_id IS NOT NULL
      ORDER BY named.service_id;
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`DROP TRIGGER routes_keep_services ON routes`.execute(db);
  await sql`
    CREATE TRIGGER routes_keep_services
    AFTER INSERT OR UPDATE OF environment, service_id, versions, mirror ON routes
    FOR EACH ROW EXECUTE FUNCTION keep_route_services()
  `.execute(db);
}
