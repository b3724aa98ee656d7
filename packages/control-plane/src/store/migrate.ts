import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kysely, PostgresDialect } from 'kysely';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import pg from 'pg';

const MIGRATIONS = fileURLToPath(new URL('../../../../migrations/', import.meta.url));

/** A start waits this long for the replica that migrates before it, ms. */
const STATEMENT_TIMEOUT_MS = 10 * 60 * 1000;
/** After so long without a statement the one that migrates is taken for dead, and the next takes its place, ms. */
const TRANSACTION_IDLE_MS = 60 * 1000;

/**
 * Applies every migration that the database lacks, each once, in the order of their names.
 *
 * Any number of replicas may call this at once: the migrator holds an advisory lock of the database
 * while it works, and all of them return when the schema is whole. One that fails leaves nothing of
 * itself behind, as all migrations of a call are one transaction.
 *
 * @throws the error of the migration that failed, or of the connection.
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'gateway-migrations',
    max: 2,
    connectionTimeoutMillis: 3000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: TRANSACTION_IDLE_MS,
  });
  // An error on an idle connection would end the process; the next query reports it.
  pool.on('error', () => undefined);
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    const provider = new FileMigrationProvider({ fs, path, migrationFolder: MIGRATIONS });
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error as Error;
  } finally {
    await db.destroy();
  }
}
