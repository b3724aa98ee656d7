import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { CommitUnknownError, isAnswerLost, isReadTimeout } from './failures.ts';
import type { Tables } from './tables.ts';

/** Runs queries; a transaction is a Database too. */
export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  readonly url: string;
  readonly log: Logger;
  /** Default: DEFAULT_MAX_CONNECTIONS. */
  readonly maxConnections?: number;
  /** Postgres cancels a statement after this time, ms. */
  readonly statementTimeoutMs?: number;
  /** Postgres ends a transaction after this time without a statement, ms. */
  readonly transactionIdleMs?: number;
}

export interface OpenDatabase {
  readonly db: Database;
  /** The connections, the idle ones, and the callers that wait for one. */
  poolUse(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

/**
 * Connections of a pool. Background work and searches use up to 12 at a time: 4 publications, 4 searches
 * of records, 2 batches of the ingest, retention and token uses. The others are for calls of the API. A
 * control plane has two connections outside of the pool: the publisher's session and the readiness probe.
 */
export const DEFAULT_MAX_CONNECTIONS = 20;
const CONNECT_TIMEOUT_MS = 3000;
/** After its timeout Postgres has this long to report it; then the connection counts as dead. */
const ANSWER_GRACE_MS = 2000;
/**
 * No transaction of ours pauses for this long unless its process is suspended or its machine is gone. Its
 * locks would otherwise stay as long as the connection seems alive, which can be hours.
 */
const TRANSACTION_IDLE_MS = 10_000;

/** A bigint as a number. @throws Error beyond 2^53, which no value here reaches. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error('a bigint of the database is beyond 2^53');
  return value;
}

const INT8: number = pg.types.builtins.INT8;

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

function parserOf(type: TypeId, format?: 'text' | 'binary'): (value: string) => unknown {
  const oid: number = type;
  if (oid === INT8 && format !== 'binary') return parseInt8;
  return pg.types.getTypeParser(type, format) as (value: string) => unknown;
}

/**
 * Opens a pool. It connects on first use, so Postgres may start later. Statements have a deadline on both
 * sides, and a lost connection never ends the process.
 */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5000;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: 'gateway-control-plane',
    max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: options.transactionIdleMs ?? TRANSACTION_IDLE_MS,
    types: { getTypeParser: parserOf },
  });
  const lost = (error: Error) => {
    options.log.warn({ reason: error.message }, 'Postgres connection lost');
  };
  pool.on('error', lost);
  // The pool handles errors only of idle clients; one of a client in use must not end the process either.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withDeadClients(pool) }) });
  return {
    db,
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => db.destroy(),
  };
}

/**
 * The pool, except that a client whose query got no answer (a half-open connection) is destroyed, because
 * the next query would hang behind it. If that query was a COMMIT, every later query of the client fails
 * with CommitUnknownError too: kysely then rolls back, and throws the error of the rollback.
 */
function withDeadClients(pool: pg.Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let death: Error | undefined;
      const query = async (text: string, values: readonly unknown[]) => {
        if (death !== undefined) throw death;
        try {
          return await client.query(text, [...values]);
        } catch (error) {
          death = deathOfClient(text, error);
          throw death ?? error;
        }
      };
      return {
        query: query as unknown as PostgresPoolClient['query'],
        release: (destroy?: boolean) => {
          client.release(death !== undefined || destroy === true);
        },
      };
    },
  };
}

/** Why the client must not be used after this error; undefined: it may. */
function deathOfClient(text: string, error: unknown): Error | undefined {
  if (text === 'commit' && isAnswerLost(error)) return new CommitUnknownError(error);
  if (!isReadTimeout(error)) return undefined;
  return new Error('the connection to Postgres gave no answer', { cause: error });
}
