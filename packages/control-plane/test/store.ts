import { createLogger } from '@gateway/shared/telemetry/logger';
import { createTestDatabase } from '@gateway/testing/test-database';
import type { Template } from '@gateway/testing/template-database';
import { openDatabase, type Database } from '../src/store/database.ts';

export interface TestStore {
  readonly db: Database;
  readonly url: string;
  /** Drops the database; rejects if a connection to it is still open. */
  close(): Promise<void>;
}

/** Opens a new migrated database with a pool, with the partitions of today if asked for. */
export async function openTestStore(template?: Template): Promise<TestStore> {
  const database = await createTestDatabase(template);
  const log = createLogger('test', 'silent');
  const store = openDatabase({ url: database.url, log });
  return {
    db: store.db,
    url: database.url,
    async close() {
      await store.close();
      await database.drop();
    },
  };
}
