import { Kysely, sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { knownMigrations } from './known-migrations.ts';
import { MigrationDialect } from './migration-dialect.ts';
import { createPool } from './servers/pool.ts';

/** A replica waits this long for another one that migrates, ms. */
const STATEMENT_TIMEOUT_MS = 10 * 60 * 1000;
/** A migrating replica without a statement for this long loses its lock to the next one, ms. */
const TRANSACTION_IDLE_MS = 60 * 1000;
/**
 * How long a migration waits for each lock of a table. Readers and writers of the table wait behind it, and the calls of
 * the control planes that run meanwhile have 5 s.
 */
const LOCK_TIMEOUT_MS = 2000;

/**
 * Applies every missing migration once, in the order of their names.
 *
 * Any number of replicas may call this at once: the migrator holds an advisory lock, and all of them return
 * when the schema is complete. All migrations of a call are one transaction, so a failure changes nothing. Those that a
 * newer release has applied stay.
 *
 * @throws the error of the migration that failed, or of the connection; one for which `isTableBusy` is true if a session
 * kept a table in use, such as a dump: call it again later.
 */
export async function migrate(databaseUrl: string, lockTimeoutMs = LOCK_TIMEOUT_MS): Promise<void> {
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
    const provider = {
      getMigrations: async () => withLockTimeout(await knownMigrations(db), lockTimeoutMs),
    };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error as Error;
  } finally {
    await db.destroy();
  }
}

/** Set by the migrations, so that a replica waits longer for the lock of the migrator. */
function withLockTimeout(
  migrations: Readonly<Record<string, Migration>>,
  lockTimeoutMs: number,
): Record<string, Migration> {
  const entries = Object.entries(migrations).map(([name, migration]): [string, Migration] => {
    const bounded = async (db: Kysely<unknown>) => {
      await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db);
      await migration.up(db);
    };
    return [name, { up: bounded }];
  });
  return Object.fromEntries(entries);
}
