import { sql, type Kysely } from 'kysely';

/**
 * Environments, services, routes, tokens, and the outbox from which their changes are published.
 *
 * Ids and names compare by code unit (COLLATE "C"): ids then sort by time, and a list's order is the
 * same on every machine.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE environments (
      name text COLLATE "C" PRIMARY KEY,
      config_version bigint NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL
    )
  `.execute(db);
  await createServices(db);
  await createRoutes(db);
  await createTokens(db);
  await createOutbox(db);
}

async function createServices(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE services (
      id text COLLATE "C" PRIMARY KEY,
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      name text NOT NULL,
      health_path text NOT NULL,
      health_check jsonb NOT NULL,
      upstreams jsonb NOT NULL,
      revision integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT services_name_key UNIQUE (environment, name),
      CONSTRAINT services_environment_id_key UNIQUE (environment, id)
    )
  `.execute(db);
}

async function createRoutes(db: Kysely<unknown>): Promise<void> {
  // The pair of keys keeps a route in the environment of its service, whatever the writer does.
  await sql`
    CREATE TABLE routes (
      id text COLLATE "C" PRIMARY KEY,
      environment text COLLATE "C" NOT NULL,
      name text NOT NULL,
      service_id text COLLATE "C" NOT NULL,
      status text NOT NULL CHECK (status IN ('active', 'disabled')),
      timeout_ms integer NOT NULL,
      retry_count integer NOT NULL,
      methods text[],
      auth jsonb NOT NULL,
      rate_limit jsonb NOT NULL,
      retry jsonb NOT NULL,
      max_body_bytes bigint NOT NULL,
      revision integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT routes_name_key UNIQUE (environment, name),
      CONSTRAINT routes_service_fkey FOREIGN KEY (environment, service_id)
        REFERENCES services (environment, id)
    )
  `.execute(db);
  await sql`CREATE INDEX routes_by_service ON routes (service_id, id)`.execute(db);
  await sql`CREATE INDEX routes_by_environment ON routes (environment, id)`.execute(db);
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
      CONSTRAINT tokens_secret_key UNIQUE (secret_sha256),
      CONSTRAINT tokens_previous_whole
        CHECK ((previous_sha256 IS NULL) = (previous_expires_at IS NULL))
    )
  `.execute(db);
  // The name of a revoked token is free again; the row stays, as records name its id.
  await sql`
    CREATE UNIQUE INDEX tokens_name_key ON tokens (name) WHERE revoked_at IS NULL
  `.execute(db);
  await sql`
    CREATE UNIQUE INDEX tokens_previous_key ON tokens (previous_sha256)
    WHERE previous_sha256 IS NOT NULL
  `.execute(db);
}

async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE config_outbox (
      id bigserial PRIMARY KEY,
      environment text COLLATE "C" NOT NULL REFERENCES environments (name),
      change text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      published_version bigint
    )
  `.execute(db);
  await sql`
    CREATE INDEX config_outbox_pending ON config_outbox (environment, id)
    WHERE published_version IS NULL
  `.execute(db);
  // Sent at commit and only then, so whoever hears of a change can read it.
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
