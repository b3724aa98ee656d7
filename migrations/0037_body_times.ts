import type { Kysely } from 'kysely';
import { addSetting } from './add-setting.ts';

const COLUMNS = ['max_upload_ms', 'min_upload_bytes_per_second', 'body_idle_timeout_ms'] as const;

/** How long the bodies of a route may take and be silent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of COLUMNS) await addSetting('routes', name)(db);
}
