import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { knownMigrations } from './known-migrations.ts';
import { MigrationDialect } from './migration-dialect.ts';
import { createPool } from './servers/pool.ts';

/** A replica waits this long for another one that migrates, ms. */
const STATEMENT_TIMEOUT_MS = 10 * 60 * 1000;
/** A migrating replica without a statement for this long loses its lock to the next one, ms. */
const TRANSACTION_IDLE_MS = 60 * 1000;

/**
 * Applies every missing migration once, in the order of their names.
 *
 * Any number of replicas may call this at once: the migrator holds an advisory lock, and all of them return
 * when the schema is complete. All migrations of a call are one transaction, so a failure changes nothing. Those that a
 * newer release has applied stay.
 *
 * @throws the error of the migration that failed, or of the connection.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const { connections } = createPool(databaseUrl, {
    application_name: 'gateway-migrations',
    max: 2,
    keepAlive: true,
    connectionTimeoutMillis: 3000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // For an answer that never comes; Postgres ends the statement first.
    query_timeout: STATEMENT_TIMEOUT_MS + 10_000,
    idle_in_transaction_session_timeout: TRANSACTION_IDLE_MS,
  });
  const db = new Kysely<unknown>({ dialect: new MigrationDialect({ pool: connections }) });
  try {
    // Called while the migrator holds its lock, so no other replica applies one meanwhile.
    const provider = { getMigrations: () => knownMigrations(db) };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error as Error;
  } finally {
    await db.destroy();
  }
}
