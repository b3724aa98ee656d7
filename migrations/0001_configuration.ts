import { sql, type Kysely } from 'kysely';

/**
 * Environments, services, routes and tokens.
 *
 * Ids and environment names use COLLATE "C", so ids sort by time, and lists have the same order on every
 * machine.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // snapshot_version, snapshot_at and snapshot_cost_ms: the newest version with a snapshot, when the snapshot
  // was begun and how long it took. Later versions are deltas.
  await sql`
    CREATE TABLE environments (
      name text COLLATE "C" PRIMARY KEY,
      config_version bigint NOT NULL DEFAULT 0,
      snapshot_version bigint NOT NULL DEFAULT 0,
      snapshot_at timestamptz,
      snapshot_cost_ms integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    )
  `.execute(db);
  await createServices(db);
  await createRoutes(db);
  await createRouteServices(db);
  await createTokens(db);
}

/**
 * `credential`: `{type, header, set_at, key_id, sealed}`. `client_key`: the private key of the client
 * certificate of `tls`, `{key_id, sealed}`. `sealed` is encrypted with the master key `key_id`.
 */
async function createServices(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE services (
      id text COLLATE "C" PRIMARY KEY,
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      name text NOT NULL,
      health_path text NOT NULL,
      health_check jsonb NOT NULL,
      upstreams jsonb NOT NULL,
      credential jsonb,
      tls jsonb,
      client_key jsonb,
      revision integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT services_name_key UNIQUE (environment, name),
      CONSTRAINT services_environment_id_key UNIQUE (environment, id)
    )
  `.execute(db);
}

/** A route names one service, or versions that each name one. */
async function createRoutes(db: Kysely<unknown>): Promise<void> {
  // The foreign key over both columns keeps a route in the environment of its service.
  await sql`
    CREATE TABLE routes (
      id text COLLATE "C" PRIMARY KEY,
      environment text COLLATE "C" NOT NULL,
      name text NOT NULL,
      service_id text COLLATE "C",
      versions jsonb,
      status text NOT NULL CHECK (status IN ('active', 'disabled')),
      timeout_ms integer NOT NULL,
      retry_count integer NOT NULL,
      methods text[],
      auth jsonb NOT NULL,
      rate_limit jsonb NOT NULL,
      retry jsonb NOT NULL,
      idempotency jsonb NOT NULL,
      regions text[] NOT NULL,
      max_body_bytes bigint NOT NULL,
      revision integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT routes_name_key UNIQUE (environment, name),
      CONSTRAINT routes_service_fkey FOREIGN KEY (environment, service_id)
        REFERENCES services (environment, id),
      CONSTRAINT routes_service_or_versions CHECK ((service_id IS NULL) <> (versions IS NULL))
    )
  `.execute(db);
  await sql`CREATE INDEX routes_by_service ON routes (service_id, id)`.execute(db);
  await sql`CREATE INDEX routes_by_environment ON routes (environment, id)`.execute(db);
}

/**
 * Every service that a route names, maintained by a trigger. The foreign key guarantees, also with
 * concurrent writers, that no route names a deleted service or one of another environment.
 */
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
  // Ordered by id, so that two writers cannot deadlock.
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

async function createTokens(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE tokens (
      id text COLLATE "C" PRIMARY KEY,
      name text NOT NULL,
      environments text[] NOT NULL,
      routes text[] NOT NULL,
      scopes text[] NOT NULL,
      secret_sha256 bytea NOT NULL,
      previous_sha256 bytea,
      previous_expires_at timestamptz,
      expires_at timestamptz,
      created_by text,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      revoked_at timestamptz,
      last_used_at timestamptz,
      CONSTRAINT tokens_secret_key UNIQUE (secret_sha256),
      CONSTRAINT tokens_previous_whole
        CHECK ((previous_sha256 IS NULL) = (previous_expires_at IS NULL))
    )
  `.execute(db);
  // The name of a revoked token is free again. The row stays, because request records contain its id.
  await sql`
    CREATE UNIQUE INDEX tokens_name_key ON tokens (name) WHERE revoked_at IS NULL
  `.execute(db);
  await sql`
    CREATE UNIQUE INDEX tokens_previous_key ON tokens (previous_sha256)
    WHERE previous_sha256 IS NOT NULL
  `.execute(db);
  await sql`
    CREATE INDEX tokens_expiring ON tokens (expires_at)
    WHERE revoked_at IS NULL AND expires_at IS NOT NULL
  `.execute(db);
}
