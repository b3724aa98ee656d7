import { sql, type Kysely } from 'kysely';

/**
 * The size of the stored response of each idempotency key, so that the bound of all keys is checked without reading their
 * responses. A trigger sets it, also for keys that the release before stores. Keys that are stored already count as
 * empty; the last of them expires a day later.
 *
 * One index serves the expiry and the bounds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE idempotency_keys ADD COLUMN bytes integer NOT NULL DEFAULT 0`.execute(db);
  await sql`
    CREATE FUNCTION measure_idempotency_key() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.bytes := coalesce(octet_length(NEW.data::text), 0);
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER idempotency_keys_measure BEFORE INSERT OR UPDATE OF data ON idempotency_keys
    FOR EACH ROW EXECUTE FUNCTION measure_idempotency_key()
  `.execute(db);
  await sql`
    CREATE INDEX idempotency_keys_by_expiry
    ON idempotency_keys (expires_at DESC, token_id, key_sha256) INCLUDE (bytes)
  `.execute(db);
  await sql`DROP INDEX idempotency_keys_by_age`.execute(db);
}
