import pg from 'pg';
import {
  isPoolBusy,
  isUnavailable,
  NoWritableServerError,
  ReadOnlyServerError,
} from '../failures.ts';
import { parseDatabaseUrl, type DatabaseAddress, type PostgresServer } from './database-url.ts';

/** The rest of a list must have its turn before the caller of the API gives up. */
const SEARCH_TIMEOUT_MS = 2000;

/** Changes nothing. A server that accepts no writes refuses it with 25006, also if it did accept them when it was connected. */
export const PROBE_WRITABLE = 'UPDATE environments SET name = name WHERE false';

/** The part of a client of the driver that is used here. */
interface Queries {
  query<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>>;
}

/**
 * The servers of a database URL, and which of them is used. That is the first one until it cannot be reached or accepts no
 * writes; then the first one that does. It stays in use when an earlier one is back.
 */
export class PostgresServers {
  readonly #address: DatabaseAddress;
  #current: PostgresServer;
  #search: Promise<void> | undefined;

  constructor(databaseUrl: string) {
    this.#address = parseDatabaseUrl(databaseUrl);
    const [first] = this.#address.servers;
    if (first === undefined) throw new Error('a database URL names at least one server');
    this.#current = first;
  }

  /** The server that new connections go to. */
  get current(): PostgresServer {
    return this.#current;
  }

  /**
   * Checks a new connection.
   *
   * @throws ReadOnlyServerError if writes are required and its server accepts none
   */
  async verify(client: Queries, server: PostgresServer): Promise<void> {
    if (!this.#address.mustAcceptWrites) return;
    const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(
      `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only`,
    );
    if (rows[0]?.standby === true) throw new ReadOnlyServerError(server.name, 'a standby');
    if (rows[0]?.read_only !== false) throw new ReadOnlyServerError(server.name, 'read-only');
  }

  /**
   * Opens a connection to the current server. If that fails, looks for another server and opens one to it.
   *
   * @param connect connects to `current` and verifies
   * @throws NoWritableServerError if none of several servers can be used
   */
  async connect<T>(connect: () => Promise<T>): Promise<T> {
    const tried = this.#current;
    try {
      return await connect();
    } catch (error) {
      const isAlone = this.#address.servers.length === 1;
      if (isAlone || isPoolBusy(error)) throw error;
      // Another connection may have found one meanwhile.
      if (this.#current === tried) await (this.#search ??= this.#find());
    }
    return connect();
  }

  /** @throws the first refusal of the user or the database, if there is one and no server can be used */
  async #find(): Promise<void> {
    const reasons: string[] = [];
    const refusals: unknown[] = [];
    try {
      for (const server of this.#address.servers) {
        const error = await this.#errorOf(server);
        if (error === undefined) {
          this.#current = server;
          return;
        }
        if (!isUnavailable(error)) refusals.push(error);
        reasons.push(reasonOf(server, error));
      }
    } finally {
      this.#search = undefined;
    }
    throw refusals.length > 0 ? refusals[0] : new NoWritableServerError(reasons);
  }

  /** Why a server cannot be used; undefined if it can. */
  async #errorOf(server: PostgresServer): Promise<unknown> {
    const client = new pg.Client({
      connectionString: server.url,
      application_name: 'gateway-server-search',
      connectionTimeoutMillis: SEARCH_TIMEOUT_MS,
      query_timeout: SEARCH_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await this.verify(client, server);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}

function reasonOf(server: PostgresServer, error: unknown): string {
  if (error instanceof ReadOnlyServerError) return error.message;
  return `${server.name}: ${error instanceof Error ? error.message : String(error)}`;
}
