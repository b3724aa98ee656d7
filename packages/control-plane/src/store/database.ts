import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { CommitUnknownError, isAnswerLost, isReadTimeout } from './failures.ts';
import type { Tables } from './tables.ts';

/** Where every query goes; a transaction is one of these too. */
export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  readonly url: string;
  readonly log: Logger;
  /** Default: DEFAULT_MAX_CONNECTIONS. */
  readonly maxConnections?: number;
  /** After this long Postgres itself gives a statement up, ms. */
  readonly statementTimeoutMs?: number;
  /** A transaction in which nothing is asked for so long is ended by Postgres, ms. */
  readonly transactionIdleMs?: number;
}

export interface OpenDatabase {
  readonly db: Database;
  /** How the pool stands: connections, those idle, and callers that wait for one. */
  poolUse(): { total: number; idle: number; waiting: number };
  close(): Promise<void>;
}

/**
 * Connections of a pool. Work in the background takes up to 12 at one time: 4 publications, 4 searches
 * of records, 2 batches of the ingest, retention and the uses of tokens. The rest is for calls of the API.
 * Outside of the pool a control plane has two more: the publisher's session, which listens and holds the
 * publication locks, and the readiness probe.
 */
export const DEFAULT_MAX_CONNECTIONS = 20;
const CONNECT_TIMEOUT_MS = 3000;
/** Past its own time-out Postgres is given this long to say so; then the connection is dead. */
const ANSWER_GRACE_MS = 2000;
/**
 * No code of ours pauses for so long within a transaction. One that does is of a process that stands still,
 * or of a machine that is gone; what it has locked would stay so for as long as its connection seems to live,
 * which is hours.
 */
const TRANSACTION_IDLE_MS = 10_000;

/** A bigint as a number: what is counted here stays far below 2^53, and beyond it this throws. */
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
 * Opens a pool. It connects as it is used, so Postgres may be away now and come later; a statement
 * has a deadline on both sides, and the loss of a connection never ends the process.
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
  // The pool listens only while a client is idle; one that is in use must not end the process either.
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
 * The pool, but a client whose query got no answer (a half-open connection) is destroyed rather than
 * lent again, where the next query would hang behind it. If that query was a COMMIT, all that follows
 * on the client fails with CommitUnknownError: kysely rolls back after it, and throws the error of that.
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
