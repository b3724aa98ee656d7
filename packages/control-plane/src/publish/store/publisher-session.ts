import PQueue from 'p-queue';
import type pg from 'pg';
import { LOCK_CLASS } from '../../store/locks.ts';
import { connectClient } from '../../store/servers/connect-client.ts';
import { PROBE_WRITABLE, PostgresServers } from '../../store/servers/writable-server.ts';
import { PUBLISHED_CHANNEL } from './publications.ts';

/** Notified by a trigger with the environment of each new outbox row. */
const CHANNEL = 'config_outbox';

/** A statement of this session that takes longer means that the connection is dead. */
const STATEMENT_TIMEOUT_MS = 5000;

const SESSION: pg.ClientConfig = {
  application_name: 'gateway-publisher',
  keepAlive: true,
  connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
  query_timeout: STATEMENT_TIMEOUT_MS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
};

/** A session that holds a lock runs a statement at least once a second unless its process is suspended. */
const LOCK_IDLE_MS = 10_000;

/** $3 in ms, 0 for none. Postgres 13 and older lack this setting; there a lock is held as long as the session. */
const SET_IDLE_TIMEOUT = `CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
  THEN set_config('idle_session_timeout', $3, false) END`;
const TRY_LOCK = `
  WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked)
  SELECT locked, CASE WHEN locked THEN (${SET_IDLE_TIMEOUT}) END FROM attempt`;
const UNLOCK = `SELECT pg_advisory_unlock($1, hashtext($2)), ${SET_IDLE_TIMEOUT}`;

/** Each is called with the environment. */
export interface SessionEvents {
  readonly changed: (environment: string) => void;
  /** Published by whichever control plane. */
  readonly published: (environment: string) => void;
}

export interface PublisherSession {
  /**
   * Checks that the connection is alive and its server still accepts writes, or opens a new one.
   *
   * @returns true if it is new: notifications may have been lost.
   * @throws if Postgres cannot be reached.
   */
  ensureConnected(): Promise<boolean>;
  /**
   * Takes the environment's publication lock unless another session holds it. A process that is suspended,
   * or whose machine is gone, loses it after ten seconds.
   */
  tryLock(environment: string): Promise<boolean>;
  /** Never rejects: if unlocking fails the connection is closed, which releases the lock as well. */
  unlock(environment: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a connection outside of the pool that listens for changes and holds publication locks. Locks belong
 * to the session, so a control plane that crashes releases them at once. The connection of a suspended
 * process or a lost machine stays open for hours, so Postgres ends a session that holds locks and is idle.
 *
 * @param events called with the environment of each change and publication after its commit
 * @param lockIdleMs how long a session with a lock may be idle
 */
export function createPublisherSession(
  databaseUrl: string,
  events: SessionEvents,
  lockIdleMs = LOCK_IDLE_MS,
): PublisherSession {
  const servers = new PostgresServers(databaseUrl);
  let current: pg.Client | undefined;
  /** The environments whose locks the current session holds. */
  let held = new Set<string>();
  /** The driver runs one statement of a client at a time; publications and the tick use the session at once. */
  const statements = new PQueue({ concurrency: 1 });
  let connecting: Promise<pg.Client> | undefined;

  function closeClient(client: pg.Client): Promise<void> {
    if (current === client) current = undefined;
    // The connection may be dead already, so errors of its end do not matter.
    return client.end().catch(() => undefined);
  }

  async function connect(): Promise<pg.Client> {
    const client = await connectClient(servers, SESSION, async (opened) => {
      opened.on('notification', ({ channel, payload }) => {
        if (payload === undefined || payload === '') return;
        if (channel === CHANNEL) events.changed(payload);
        if (channel === PUBLISHED_CHANNEL) events.published(payload);
      });
      await opened.query(`LISTEN ${CHANNEL}; LISTEN ${PUBLISHED_CHANNEL}`);
    });
    client.on('error', () => void closeClient(client));
    client.on('end', () => {
      if (current === client) current = undefined;
    });
    current = client;
    held = new Set();
    return client;
  }

  function connected(): Promise<pg.Client> {
    if (current !== undefined) return Promise.resolve(current);
    connecting ??= connect().finally(() => (connecting = undefined));
    return connecting;
  }

  /** Takes the lock if it is free. A statement after it knows whether it is held. */
  function takeLock(client: pg.Client, environment: string): Promise<boolean> {
    return statements.add(async () => {
      const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [
        LOCK_CLASS.publication,
        environment,
        String(lockIdleMs),
      ]);
      const locked = rows[0]?.locked === true;
      if (locked && current === client) held.add(environment);
      return locked;
    });
  }

  /** If the session is a new one, the lock ended with the old one. */
  function releaseLock(client: pg.Client, environment: string): Promise<void> {
    return statements.add(async () => {
      if (current !== client || !held.delete(environment)) return;
      const idleMs = held.size > 0 ? lockIdleMs : 0;
      await client.query(UNLOCK, [LOCK_CLASS.publication, environment, String(idleMs)]);
    });
  }

  return {
    async ensureConnected() {
      const before = current;
      if (before !== undefined) {
        try {
          await statements.add(() => before.query(PROBE_WRITABLE));
          return false;
        } catch {
          void closeClient(before);
        }
      }
      await connected();
      return true;
    },
    async tryLock(environment) {
      const client = await connected();
      try {
        return await takeLock(client, environment);
      } catch (error) {
        // The lock may have been taken, so the session must end.
        void closeClient(client);
        throw error;
      }
    },
    async unlock(environment) {
      const client = current;
      if (client === undefined) return;
      try {
        await releaseLock(client, environment);
      } catch {
        void closeClient(client);
      }
    },
    async close() {
      await connecting?.catch(() => undefined);
      if (current !== undefined) await closeClient(current);
    },
  };
}
