import { sql, type Kysely } from 'kysely';

/**
 * The names of live tokens are unique in each environment that they cover; the tokens of all environments have names of
 * their own. And the secrets that were replaced: the operator's setting must not bring one back.
 *
 * Triggers maintain both, so the release before keeps them true while it still runs. That release takes the token named
 * `admin` for the admin token, so no other token can take the name.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTokenNames(db);
  await createReplacedSecrets(db);
  // A revoked token may have had the secret of a live one before.
  await sql`DROP INDEX tokens_previous_key`.execute(db);
  await sql`
    CREATE UNIQUE INDEX tokens_previous_key ON tokens (previous_sha256)
    WHERE previous_sha256 IS NOT NULL AND revoked_at IS NULL
  `.execute(db);
  // For the release before it was the admin token, whoever had created it.
  await sql`
    UPDATE tokens SET created_by = NULL
    WHERE name = 'admin' AND revoked_at IS NULL AND environments = '{*}' AND routes = '{*}'
      AND scopes = '{*}'
      AND NOT EXISTS (SELECT FROM tokens WHERE created_by IS NULL AND revoked_at IS NULL)
  `.execute(db);
}

async function createTokenNames(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX tokens_name_key`.execute(db);
  // The release before reports a violation of a constraint with this name as `name_conflict`.
  await sql`
    CREATE TABLE token_names (
      environment text COLLATE "C" NOT NULL,
      name text NOT NULL,
      token_id text COLLATE "C" NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
      CONSTRAINT tokens_name_key PRIMARY KEY (environment, name)
    )
  `.execute(db);
  await sql`CREATE INDEX token_names_by_token ON token_names (token_id)`.execute(db);
  // Ordered, so that two writers of new tokens cannot deadlock.
  await sql`
    CREATE FUNCTION keep_token_names() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.name = 'admin' AND NEW.revoked_at IS NULL AND NEW.created_by IS NOT NULL THEN
        RAISE unique_violation USING CONSTRAINT = 'tokens_name_key',
          MESSAGE = 'the name admin is reserved for the admin token';
      END IF;
      DELETE FROM token_names WHERE token_id = NEW.id;
      IF NEW.revoked_at IS NULL THEN
        INSERT INTO token_names (environment, name, token_id)
        SELECT DISTINCT environment COLLATE "C", NEW.name, NEW.id
        FROM unnest(NEW.environments) AS environment
        ORDER BY 1;
      END IF;
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER tokens_keep_names
    AFTER INSERT OR UPDATE OF name, environments, revoked_at ON tokens
    FOR EACH ROW EXECUTE FUNCTION keep_token_names()
  `.execute(db);
  await sql`
    INSERT INTO token_names (environment, name, token_id)
    SELECT DISTINCT environment, name, id FROM tokens, unnest(environments) AS environment
    WHERE revoked_at IS NULL
  `.execute(db);
}

async function createReplacedSecrets(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE replaced_secrets (
      sha256 bytea PRIMARY KEY,
      token_id text COLLATE "C" NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
      replaced_at timestamptz NOT NULL DEFAULT now()
    )
  `.execute(db);
  await sql`
    CREATE FUNCTION keep_replaced_secret() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO replaced_secrets (sha256, token_id) VALUES (OLD.secret_sha256, OLD.id)
      ON CONFLICT DO NOTHING;
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER tokens_keep_replaced_secret
    AFTER UPDATE OF secret_sha256 ON tokens
    FOR EACH ROW WHEN (OLD.secret_sha256 <> NEW.secret_sha256)
    EXECUTE FUNCTION keep_replaced_secret()
  `.execute(db);
  await sql`
    INSERT INTO replaced_secrets (sha256, token_id)
    SELECT previous_sha256, id FROM tokens WHERE previous_sha256 IS NOT NULL
  `.execute(db);
}
