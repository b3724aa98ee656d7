import { sql, type Kysely } from 'kysely';

/**
 * A deleted environment keeps its row: data planes must get a last configuration without tokens, and the numbers of its
 * versions must rise if an environment of this name is created again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE environments ADD COLUMN deleted_at timestamptz`.execute(db);
  // The foreign key does not see that the environment is deleted. The lock makes a concurrent deletion wait or be seen.
  await sql`
    CREATE FUNCTION require_environment() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM 1 FROM environments WHERE name = NEW.environment AND deleted_at IS NULL FOR KEY SHARE;
      IF NOT FOUND THEN
        RAISE foreign_key_violation USING
          CONSTRAINT = 'services_environment_fkey', MESSAGE = 'the environment does not exist';
      END IF;
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER services_require_environment BEFORE INSERT ON services
    FOR EACH ROW EXECUTE FUNCTION require_environment()
  `.execute(db);
}
