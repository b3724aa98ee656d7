import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { deathOfConnection } from '../failures.ts';
import type { PostgresServer } from './database-url.ts';
import { PostgresServers } from './writable-server.ts';

export interface ServerPool {
  /** For kysely. */
  readonly connections: PostgresPool;
  /** The connections, the idle ones, and the callers that wait for one. */
  use(): { total: number; idle: number; waiting: number };
}

export interface PoolOptions extends Omit<pg.PoolConfig, 'connectionString' | 'Client'> {
  /** Called with the error of each connection that is lost while it is idle. */
  readonly onLost?: (error: Error) => void;
}

interface ConnectionState {
  readonly server: PostgresServer;
  isVerified: boolean;
}

/**
 * Opens a pool on the servers of a database URL. It connects on first use, so Postgres may start later. A lost connection
 * never ends the process, and one that cannot be trusted any more is not used again.
 */
export function createPool(databaseUrl: string, { onLost, ...settings }: PoolOptions): ServerPool {
  const servers = new PostgresServers(databaseUrl);
  const states = new WeakMap<pg.ClientBase, ConnectionState>();

  class ServerClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      const state = { server: servers.current, isVerified: false };
      super({ ...config, connectionString: state.server.url });
      states.set(this, state);
      // The pool handles errors only of idle clients; one of a client in use must not end the process either.
      this.on('error', () => undefined);
    }
  }

  const pool = new pg.Pool({ ...settings, Client: ServerClient });
  pool.on('error', (error) => onLost?.(error));

  function stateOf(client: pg.ClientBase): ConnectionState {
    const state = states.get(client);
    if (state === undefined) throw new Error('not a client of this pool');
    return state;
  }

  async function connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      const state = stateOf(client);
      try {
        if (!state.isVerified) await servers.verify(client, state.server);
        state.isVerified = true;
      } catch (error) {
        client.release(true);
        throw error;
      }
      // What a former server has may be out of date.
      if (state.server === servers.current) return client;
      client.release(true);
    }
  }

  return {
    use: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    connections: {
      options: pool.options,
      end: () => pool.end(),
      async connect() {
        return guarded(await servers.connect(connect));
      },
    },
  };
}

/**
 * Destroys the client on release if an error says that it must not be used again. Later queries of it fail with the same
 * error, because kysely rolls back after a failed COMMIT and throws the error of the rollback.
 */
function guarded(client: pg.PoolClient): PostgresPoolClient {
  let death: Error | undefined;
  const query = async (text: string, values: readonly unknown[]) => {
    if (death !== undefined) throw death;
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      death = deathOfConnection(text, error);
      throw death ?? error;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy?: boolean) => {
      client.release(death !== undefined || destroy === true);
    },
  };
}
