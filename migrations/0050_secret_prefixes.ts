import { sql, type Kysely } from 'kysely';

/**
 * The begin of the secret of a token, by which people tell secrets apart. NULL: the secret was issued by a release without
 * the column, or is that of the operator's setting, which may be short.
 *
 * A release without the column gives a token a new secret and leaves the begin of the former one; the trigger clears it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE tokens ADD COLUMN secret_prefix text`.execute(db);
  await sql`
    CREATE FUNCTION clear_secret_prefix() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.secret_prefix IS NOT DISTINCT FROM OLD.secret_prefix THEN
        NEW.secret_prefix := NULL;
      END IF;
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER tokens_clear_secret_prefix
    BEFORE UPDATE OF secret_sha256 ON tokens
    FOR EACH ROW WHEN (OLD.secret_sha256 <> NEW.secret_sha256)
    EXECUTE FUNCTION clear_secret_prefix()
  `.execute(db);
}
