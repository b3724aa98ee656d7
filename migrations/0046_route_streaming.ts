import type { Kysely } from 'kysely';
import { addSetting } from './add-setting.ts';

const COLUMNS = ['streaming', 'max_message_bytes'] as const;

/** Whether a route carries streams that last, and how large a message of them may be. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const name of COLUMNS) await addSetting('routes', name)(db);
}
