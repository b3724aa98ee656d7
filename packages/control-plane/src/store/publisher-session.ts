import pg from 'pg';
import { LOCK_CLASS } from './locks.ts';
import { PUBLISHED_CHANNEL } from './publications.ts';

/** What a transaction notifies when it adds an outbox row; the payload is the environment. */
const CHANNEL = 'config_outbox';

/** No statement of this session takes longer unless the connection is dead. */
const STATEMENT_TIMEOUT_MS = 5000;

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
  /** Takes the environment's publication lock unless another session holds it. */
  tryLock(environment: string): Promise<boolean>;
  /** Never rejects: where unlocking fails the connection is given up, which frees the lock as well. */
  unlock(environment: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A connection of its own, outside the pool, that listens for changes and holds publication locks.
 * Locks belong to the session, so a control plane that dies frees them at once.
 *
 * @param heard gets the environment of each change and of each publication, after its transaction committed.
 */
export function createPublisherSession(databaseUrl: string, heard: SessionNews): PublisherSession {
  let current: pg.Client | undefined;
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
        const { rows } = await client.query<{ locked: boolean }>(
          'SELECT pg_try_advisory_lock($1, hashtext($2)) AS locked',
          [LOCK_CLASS.publication, environment],
        );
        return rows[0]?.locked === true;
      } catch (error) {
        // It is not known whether the lock was taken, so the session must not live on with it.
        void giveUp(client);
        throw error;
      }
    },
    async unlock(environment) {
      const client = current;
      if (client === undefined) return;
      try {
        await client.query('SELECT pg_advisory_unlock($1, hashtext($2))', [
          LOCK_CLASS.publication,
          environment,
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
