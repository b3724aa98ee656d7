import { sql, type Kysely } from 'kysely';

/**
 * Indexes for the deletion of tokens that were revoked long ago and of secrets that were replaced long ago, and for reads
 * of the others, which must not walk through the revoked ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX tokens_live ON tokens (id) WHERE revoked_at IS NULL`.execute(db);
  await sql`
    CREATE INDEX tokens_revoked ON tokens (revoked_at) WHERE revoked_at IS NOT NULL
  `.execute(db);
  await sql`CREATE INDEX replaced_secrets_by_time ON replaced_secrets (replaced_at)`.execute(db);
  // Serves the foreign key: without it the deletion of a token reads all replaced secrets.
  await sql`CREATE INDEX replaced_secrets_by_token ON replaced_secrets (token_id)`.execute(db);
}
