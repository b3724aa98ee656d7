import { sql, type Kysely } from 'kysely';

/**
 * The idempotency keys of management calls, with the response to the first call. The row is written in the transaction
 * of the change that it protects.
 *
 * `secret`: the secret of the response, encrypted, until it is shown again or `secret_until` has passed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE idempotency_keys (
      token_id text COLLATE "C" NOT NULL,
      key_sha256 bytea NOT NULL,
      fingerprint bytea NOT NULL,
      request_id text COLLATE "C" NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      kind text COLLATE "C" NOT NULL,
      data json,
      location text,
      etag text,
      concerns text[],
      secret jsonb,
      secret_until timestamptz,
      PRIMARY KEY (token_id, key_sha256)
    )
  `.execute(db);
  await sql`CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)`.execute(db);
  await sql`
    CREATE INDEX idempotency_keys_with_secret ON idempotency_keys (secret_until)
    WHERE secret_until IS NOT NULL
  `.execute(db);
}
