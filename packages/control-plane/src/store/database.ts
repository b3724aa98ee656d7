import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { createPool } from './servers/pool.ts';
import type { Tables } from './tables.ts';

/** Runs queries; a transaction is a Database too. */
export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  /** See `parseDatabaseUrl`. */
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
 * of records and audit events, 2 batches of the ingest, retention and token uses. The others are for calls of the API. A
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

/** Opens a pool. Statements have a deadline on both sides. */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5000;
  const pool = createPool(options.url, {
    application_name: 'gateway-control-plane',
    max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    idle_in_transaction_session_timeout: options.transactionIdleMs ?? TRANSACTION_IDLE_MS,
    types: { getTypeParser: parserOf },
    onLost: (error) => {
      options.log.warn({ reason: error.message }, 'Postgres connection lost');
    },
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool.connections }) });
  return { db, poolUse: () => pool.use(), close: () => db.destroy() };
}
