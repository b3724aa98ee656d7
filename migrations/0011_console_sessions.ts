import { sql, type Kysely } from 'kysely';

/**
 * The sessions of the console. A session is found by the SHA-256 of its id, and is bound to the secret that was
 * exchanged for it: it ends with that secret.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE console_sessions (
      id_sha256 bytea PRIMARY KEY,
      token_id text COLLATE "C" NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
      secret_sha256 bytea NOT NULL,
      created_at timestamptz NOT NULL,
      last_used_at timestamptz NOT NULL
    )
  `.execute(db);
  await sql`
    CREATE INDEX console_sessions_by_token ON console_sessions (token_id, last_used_at)
  `.execute(db);
}
