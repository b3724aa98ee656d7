import { randomUUID } from 'node:crypto';
import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../database.ts';
import { isUnsupportedParameter } from '../failures.ts';
import { connectClient } from './connect-client.ts';
import { PostgresServers } from './writable-server.ts';

const NOTIFICATION_MS = 2000;
const CONNECTION: pg.ClientConfig = {
  application_name: 'gateway-pooler-check',
  connectionTimeoutMillis: 3000,
  query_timeout: 3000,
};

/** A pooler in front of Postgres is not set up as the control plane needs it. The message names the setting. */
export class PoolerError extends Error {}

/**
 * Checks that a connection keeps its session, which notifications and locks of a session need. A pooler in transaction mode
 * gives each transaction another session: notifications would arrive nowhere, and a lock could never be released.
 *
 * @param variable the name of the variable that the URL is from
 * @throws PoolerError
 */
export async function requireSession(
  databaseUrl: string,
  variable: string,
  clock: Clock,
): Promise<void> {
  const servers = new PostgresServers(databaseUrl);
  const listener = await connectClient(servers, CONNECTION);
  try {
    if (await isDirect(listener)) return;
    const sender = await connectClient(servers, CONNECTION);
    try {
      if (await isNotified(listener, sender, clock)) return;
    } finally {
      void sender.end().catch(() => undefined);
    }
  } finally {
    void listener.end().catch(() => undefined);
  }
  throw new PoolerError(
    `${variable} leads to a pooler that keeps no sessions, such as PgBouncer in transaction mode; set DATABASE_DIRECT_URL to Postgres itself`,
  );
}

/** A pooler gives its clients process ids of its own. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid === Reflect.get(client, 'processID');
}

async function isNotified(listener: pg.Client, sender: pg.Client, clock: Clock): Promise<boolean> {
  const channel = `gateway_check_${randomUUID().replaceAll('-', '')}`;
  const waited = new AbortController();
  const notified = new Promise<boolean>((resolve) => {
    listener.on('notification', (notification) => {
      if (notification.channel === channel) resolve(true);
    });
  });
  await listener.query(`LISTEN ${channel}`);
  await sender.query(`NOTIFY ${channel}`);
  const tooLate = pause(clock, NOTIFICATION_MS, waited.signal).then(() => false);
  try {
    return await Promise.race([notified, tooLate]);
  } finally {
    waited.abort();
  }
}

/**
 * Checks that Postgres ends statements and transactions of the pool that take too long, which a pooler may have been told to
 * ignore. Without that a hung client holds its locks for as long as its connection seems alive, so it is logged.
 *
 * @throws PoolerError if the pooler refuses the settings
 */
export async function checkTimeouts(db: Database, log: Logger): Promise<void> {
  try {
    const { rows } = await sql<{ name: string }>`
      SELECT name FROM pg_settings
      WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout') AND setting = '0'
    `.execute(db);
    if (rows.length === 0) return;
    const settings = rows.map(({ name }) => name);
    log.warn({ settings }, 'Postgres settings ignored by a pooler; set them for the role');
  } catch (error) {
    if (!isUnsupportedParameter(error)) throw error;
    throw new PoolerError(
      'the pooler of DATABASE_URL refuses settings of connections; set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout in PgBouncer, and both settings for the role in Postgres',
      { cause: error },
    );
  }
}
