import pg from 'pg';
import { LOCK_CLASS } from '../locks.ts';
import { PUBLISHED_CHANNEL } from './publications.ts';

/** What a transaction notifies when it adds an outbox row; the payload is the environment. */
const CHANNEL = 'config_outbox';

/** No statement of this session takes longer unless the connection is dead. */
const STATEMENT_TIMEOUT_MS = 5000;

/** A session that holds a lock says something at least once a second, unless its process stands still. */
const LOCK_IDLE_MS = 10_000;

/** $3 in ms, 0 for none. Postgres 13 and older have no such setting; there the lock is held as long as the session. */
const SET_IDLE_TIMEOUT = `CASE WHEN current_setting('idle_session_timeout', true) IS NOT NULL
  THEN set_config('idle_session_timeout', $3, false) END`;
const TRY_LOCK = `
  WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked)
  SELECT locked, CASE WHEN locked THEN (${SET_IDLE_TIMEOUT}) END FROM attempt`;
const UNLOCK = `SELECT pg_advisory_unlock($1, hashtext($2)), ${SET_IDLE_TIMEOUT}`;

/** Each is called with the environment. */
export interface SessionNews {
  readonly changed: (environment: string) => void;
  /** By whichever control plane. */
  readonly published: (environment: string) => void;
}

export interface PublisherSession {
  /**
   * Proves that the connection lives, or makes a new one.
   *
   * @returns true where it is new: notifications may have been missed before it.
   * @throws where Postgres cannot be reached.
   */
  ensureConnected(): Promise<boolean>;
  /**
   * Takes the environment's publication lock unless another session holds it. A process that stands still
   * with it, or whose machine is gone, loses it after ten seconds.
   */
  tryLock(environment: string): Promise<boolean>;
  /** Never rejects: where unlocking fails the connection is given up, which frees the lock as well. */
  unlock(environment: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A connection of its own, outside the pool, that listens for changes and holds publication locks.
 * Locks belong to the session, so a control plane that dies frees them at once. One that stands still does
 * not die, and a machine that is gone seems to live for hours: so Postgres ends a session that holds locks
 * and is silent for long.
 *
 * @param heard gets the environment of each change and of each publication, after its transaction committed.
 * @param lockIdleMs how long a session that holds a lock may be silent
 */
export function createPublisherSession(
  databaseUrl: string,
  heard: SessionNews,
  lockIdleMs = LOCK_IDLE_MS,
): PublisherSession {
  let current: pg.Client | undefined;
  /** The environments whose locks the current session holds. */
  let held = new Set<string>();
  let connecting: Promise<pg.Client> | undefined;

  function giveUp(client: pg.Client): Promise<void> {
    if (current === client) current = undefined;
    // It may be dead already; its end is not waited for longer than its socket takes.
    return client.end().catch(() => undefined);
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'gateway-publisher',
      keepAlive: true,
      connectionTimeoutMillis: STATEMENT_TIMEOUT_MS,
      query_timeout: STATEMENT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
    });
    // Without a listener an error on an idle connection would end the process.
    client.on('error', () => void giveUp(client));
    client.on('end', () => {
      if (current === client) current = undefined;
    });
    client.on('notification', ({ channel, payload }) => {
      if (payload === undefined || payload === '') return;
      if (channel === CHANNEL) heard.changed(payload);
      if (channel === PUBLISHED_CHANNEL) heard.published(payload);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}; LISTEN ${PUBLISHED_CHANNEL}`);
    } catch (error) {
      await giveUp(client);
      throw error;
    }
    current = client;
    held = new Set();
    return client;
  }

  function connected(): Promise<pg.Client> {
    if (current !== undefined) return Promise.resolve(current);
    connecting ??= connect().finally(() => (connecting = undefined));
    return connecting;
  }

  return {
    async ensureConnected() {
      const before = current;
      if (before !== undefined) {
        try {
          await before.query('SELECT 1');
          return false;
        } catch {
          void giveUp(before);
        }
      }
      await connected();
      return true;
    },
    async tryLock(environment) {
      const client = await connected();
      try {
        const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [
          LOCK_CLASS.publication,
          environment,
          String(lockIdleMs),
        ]);
        const locked = rows[0]?.locked === true;
        if (locked && current === client) held.add(environment);
        return locked;
      } catch (error) {
        // It is not known whether the lock was taken, so the session must not live on with it.
        void giveUp(client);
        throw error;
      }
    },
    async unlock(environment) {
      const client = current;
      // Where the session is another one by now, the lock went with the one before.
      if (client === undefined || !held.delete(environment)) return;
      try {
        await client.query(UNLOCK, [
          LOCK_CLASS.publication,
          environment,
          String(held.size > 0 ? lockIdleMs : 0),
        ]);
      } catch {
        void giveUp(client);
      }
    },
    async close() {
      await connecting?.catch(() => undefined);
      if (current !== undefined) await giveUp(current);
    },
  };
}
