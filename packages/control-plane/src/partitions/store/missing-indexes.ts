import type pg from 'pg';
import { LOCK_CLASS } from '../../store/locks.ts';
import { connectClient } from '../../store/servers/connect-client.ts';
import { PostgresServers } from '../../store/servers/writable-server.ts';

/** A build waits for every transaction that is older than it, such as a dump. */
const BUILD_TIMEOUT_MS = 60 * 60 * 1000;
/** For the lock of a finished index; readers of the partition wait behind it. */
const ATTACH_LOCK_TIMEOUT_MS = 500;

const SESSION: pg.ClientConfig = {
  application_name: 'gateway-index-build',
  keepAlive: true,
  connectionTimeoutMillis: 3000,
  statement_timeout: BUILD_TIMEOUT_MS,
  query_timeout: BUILD_TIMEOUT_MS + 10_000,
};

/** The indexes that are declared for a partitioned table and that a partition of it does not have, quoted. */
const MISSING = `
  SELECT parent.oid::regclass::text AS declared, part.oid::regclass::text AS partition,
    quote_ident(part.relname || substr(parent.relname, length(whole.relname) + 1)) AS name,
    substring(pg_get_indexdef(parent.oid) FROM ' USING .*$') AS definition
  FROM pg_index JOIN pg_class AS parent ON parent.oid = indexrelid AND parent.relkind = 'I'
  JOIN pg_class AS whole ON whole.oid = indrelid AND pg_table_is_visible(whole.oid)
  JOIN pg_inherits ON inhparent = indrelid JOIN pg_class AS part ON part.oid = inhrelid
  WHERE NOT EXISTS (
    SELECT FROM pg_inherits AS attached JOIN pg_index AS child ON child.indexrelid = attached.inhrelid
    WHERE attached.inhparent = parent.oid AND child.indrelid = part.oid
  )
  ORDER BY parent.relname, part.relname DESC`;

interface MissingIndex {
  /** The index of the whole table. */
  readonly declared: string;
  readonly partition: string;
  /** The name of the missing index. */
  readonly name: string;
  /** Begins with USING. */
  readonly definition: string;
}

/**
 * Builds the indexes that a migration has declared for a partitioned table, in each partition that lacks them. Readers and
 * writers of the partition go on meanwhile. Several processes may call it at once: one of them builds.
 *
 * @param databaseUrl leads to Postgres itself, because the build holds a lock of its session
 * @param onBuilt called with the name of each index
 * @returns whether nothing is missing any more; false: another process builds, or the signal aborted
 * @throws if Postgres fails; call it again later
 */
export async function buildMissingIndexes(
  databaseUrl: string,
  onBuilt: (index: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const client = await connectClient(new PostgresServers(databaseUrl), SESSION);
  // Also while a statement runs. Postgres may complete it; then the next call finds the index.
  const abort = () => void client.end().catch(() => undefined);
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (!(await takeLock(client))) return false;
    for (const index of (await client.query<MissingIndex>(MISSING)).rows) {
      await build(client, index);
      onBuilt(index.name);
    }
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
    // The end of the session releases the lock. The connection may be dead already.
    await client.end().catch(() => undefined);
  }
}

/** Does not wait: the build of the other process would wait for the end of the waiting statement. */
async function takeLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1, 0) AS taken',
    [LOCK_CLASS.indexBuild],
  );
  return rows[0]?.taken === true;
}

async function build(client: pg.Client, index: MissingIndex): Promise<void> {
  const { declared, partition, name, definition } = index;
  const { rows } = await client.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  // A build that was interrupted leaves an index that is never used.
  if (rows[0]?.valid === false) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
  if (rows[0]?.valid !== true) {
    await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${partition} ${definition}`);
  }
  await client.query(`SET lock_timeout = ${ATTACH_LOCK_TIMEOUT_MS}`);
  await client.query(`ALTER INDEX ${declared} ATTACH PARTITION ${name}`);
  await client.query('SET lock_timeout = 0');
}
