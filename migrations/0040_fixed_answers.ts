import { sql, type Kysely } from 'kysely';
import { addSetting } from './add-setting.ts';

const addRespond = addSetting('routes', 'respond');
const addRedirect = addSetting('routes', 'redirect');

/** Routes that the gateway answers itself. They name no service, so nothing else keeps their environment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addRespond(db);
  await addRedirect(db);
  await sql`
    ALTER TABLE routes DROP CONSTRAINT routes_service_or_versions,
      ADD CONSTRAINT routes_one_target
        CHECK (num_nonnulls(service_id, versions, respond, redirect) = 1)
  `.execute(db);
  await sql`
    CREATE TRIGGER routes_require_environment BEFORE INSERT ON routes
    FOR EACH ROW WHEN (NEW.service_id IS NULL AND NEW.versions IS NULL)
    EXECUTE FUNCTION require_environment()
  `.execute(db);
}
