import { sql, type Kysely } from 'kysely';

/**
 * Versions, regions and idempotency of routes.
 *
 * A route names one service, or versions of which each names one. Whatever a route names stands in
 * `route_services` as well, kept by a trigger and held by a foreign key: no writer, however it races
 * with another, can leave a route that names a service which is gone or of another environment.
 *
 * The columns have defaults, as a control plane of the version before may write while this one is
 * being rolled out.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE routes
      ALTER COLUMN service_id DROP NOT NULL,
      ADD COLUMN versions jsonb,
      ADD COLUMN regions text[] NOT NULL DEFAULT '{}',
      ADD COLUMN idempotency jsonb NOT NULL
        DEFAULT '{"required": false, "on_unknown": "refuse"}',
      ADD CONSTRAINT routes_service_or_versions
        CHECK ((service_id IS NULL) <> (versions IS NULL))
  `.execute(db);
  await createRouteServices(db);
}

async function createRouteServices(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE route_services (
      route_id text COLLATE "C" NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
      environment text COLLATE "C" NOT NULL,
      service_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (route_id, service_id),
      CONSTRAINT route_services_service_fkey FOREIGN KEY (environment, service_id)
        REFERENCES services (environment, id)
    )
  `.execute(db);
  await sql`
    CREATE INDEX route_services_by_service ON route_services (service_id, route_id)
  `.execute(db);
  await sql`
    INSERT INTO route_services (route_id, environment, service_id)
    SELECT id, environment, service_id FROM routes
  `.execute(db);
  // In the order of the ids, so that two writers never wait for each other in a ring.
  await sql`
    CREATE FUNCTION keep_route_services() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM route_services WHERE route_id = NEW.id;
      INSERT INTO route_services (route_id, environment, service_id)
      SELECT NEW.id, NEW.environment, named.service_id
      FROM (
        SELECT NEW.service_id AS service_id WHERE NEW.service_id IS NOT NULL
        UNION
        SELECT version ->> 'service_id' FROM jsonb_array_elements(NEW.versions) AS version
      ) AS named
      ORDER BY named.service_id;
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER routes_keep_services
    AFTER INSERT OR UPDATE OF environment, service_id, versions ON routes
    FOR EACH ROW EXECUTE FUNCTION keep_route_services()
  `.execute(db);
}
