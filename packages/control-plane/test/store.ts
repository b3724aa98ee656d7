import { createLogger } from '@gateway/shared/telemetry/logger';
import { createTestDatabase } from '@gateway/local-stack/test/test-database';
import { openDatabase, type Database } from '../src/store/database.ts';

export interface TestStore {
  readonly db: Database;
  readonly url: string;
  /** Drops the database; rejects if a connection to it is still open. */
  close(): Promise<void>;
}

/** Opens a new migrated database with a pool. */
export async function openTestStore(): Promise<TestStore> {
  const database = await createTestDatabase();
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
