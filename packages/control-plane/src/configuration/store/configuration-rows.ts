import { PROBE_WRITABLE } from '../../store/servers/writable-server.ts';
import { UNPACED, type Pace } from '@gateway/shared/pace';
import { routeSchema, serviceSchema } from '@gateway/shared/snapshot/schema';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { ChangeKind, Tables } from '../../store/tables.ts';

/** The rows that a snapshot is compiled from. */
export interface ConfigurationRows {
  readonly environment: string;
  /** Undefined unless another environment had the name before. */
  readonly environmentId?: string;
  readonly services: readonly ServiceRow[];
  readonly routes: readonly RouteRow[];
  readonly tokens: readonly TokenRow[];
}

/** The columns in a snapshot, and those that it is compiled from. */
const ADDED_BY_COMPILATION = { format: true } as const;
const SERVICE_COLUMNS = [
  ...serviceSchema.omit(ADDED_BY_COMPILATION).keyof().options,
  'health_path',
  'client_key',
] as const;
const ROUTE_COLUMNS = [
  ...routeSchema.omit(ADDED_BY_COMPILATION).keyof().options,
  'service_id',
  'status',
] as const;

export type ServiceRow = Pick<Selectable<Tables['services']>, (typeof SERVICE_COLUMNS)[number]>;
export type RouteRow = Pick<Selectable<Tables['routes']>, (typeof ROUTE_COLUMNS)[number]>;

export interface TokenRow {
  readonly id: string;
  readonly environments: readonly string[];
  readonly routes: readonly string[];
  readonly scopes: readonly string[];
  /** Hex. */
  readonly secret_sha256: string;
  readonly previous_sha256: string | null;
  readonly previous_expires_at_ms: number | null;
  readonly expires_at_ms: number | null;
  readonly revoked: boolean;
}

export interface EnvironmentConfiguration {
  readonly rows: ConfigurationRows;
  /** The published version; 0 before the first. */
  readonly configVersion: number;
  /** Outbox rows of changes that these rows contain and that are not published. */
  readonly pendingIds: readonly string[];
}

/** Rows are fetched in pages, because a large result would block the event loop. */
const PAGE_ROWS = 250;

/**
 * Otherwise Postgres sorts all tokens before the first page, as long as it has no statistics of a table that was just
 * filled: it expects few of them to match. With this it reads them in the order of the primary key.
 */
const FIRST_PAGE_SOON = 'SET LOCAL cursor_tuple_fraction = 0';

/**
 * Reads the rows of an environment and its unpublished changes in one consistent read: a change is in both
 * or in neither.
 *
 * @param pace called between pages of rows
 * @returns undefined if there is no such environment.
 */
export function readConfiguration(
  db: Database,
  environment: string,
  pace: Pace = UNPACED,
): Promise<EnvironmentConfiguration | undefined> {
  return readConsistently(db, async (transaction) => {
    const published = await readPublished(transaction, environment);
    if (published === undefined) return undefined;
    const { configVersion, ownId } = published;
    await sql.raw(FIRST_PAGE_SOON).execute(transaction);
    const all = <Row>(select: SelectRows<Row>) =>
      readPages(transaction, select({ environment }), pace);
    return {
      configVersion,
      pendingIds: (await readPending(transaction, environment)).map(({ id }) => id),
      rows: {
        environment,
        ...(ownId !== null && { environmentId: ownId }),
        services: await all(selectServices),
        routes: await all(selectRoutes),
        tokens: await all(selectTokens),
      },
    };
  });
}

/**
 * Runs reads that all see the same state of the database: the present one, because a server that accepts no writes any more
 * may be behind.
 *
 * @throws DatabaseError 25006 from such a server
 */
export function readConsistently<T>(db: Database, read: (db: Database) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (transaction) => {
      await sql.raw(PROBE_WRITABLE).execute(transaction);
      return read(transaction);
    });
}

/**
 * By a cursor: a query for each page would sort the whole table each time, as long as Postgres has no statistics of a
 * table that was just filled.
 */
async function readPages<Row>(
  transaction: Database,
  select: RawBuilder<Row>,
  pace: Pace,
): Promise<readonly Row[]> {
  await sql`DECLARE configuration_rows NO SCROLL CURSOR FOR ${select}`.execute(transaction);
  const all: Row[] = [];
  for (let isLast = false; !isLast;) {
    const { rows } = await FETCH_PAGE.$castTo<Row>().execute(transaction);
    all.push(...rows);
    isLast = rows.length < PAGE_ROWS;
    const turn = pace();
    if (turn !== undefined) await turn;
  }
  await sql`CLOSE configuration_rows`.execute(transaction);
  return all;
}

const FETCH_PAGE = sql`FETCH ${sql.lit(PAGE_ROWS)} FROM configuration_rows`;

/** What a publication needs of the row of an environment. */
interface PublishedEnvironment {
  /** The published version; 0 before the first. */
  readonly configVersion: number;
  /**
   * Its id if another environment had its name before, else null. One that was created again before ids existed keeps what
   * data planes hold under its name: the retry of a request whose idempotency key is there must find it.
   */
  readonly ownId: string | null;
}

/** Undefined if there is no such environment. */
export async function readPublished(
  db: Database,
  environment: string,
): Promise<PublishedEnvironment | undefined> {
  const { rows } = await sql<PublishedEnvironment>`
    SELECT config_version::float8 AS "configVersion",
      CASE WHEN recreated AND unplaced_from IS NULL THEN id END AS "ownId"
    FROM environments WHERE name = ${environment}
  `.execute(db);
  return rows[0];
}

/** A change that is not published yet. */
export interface PendingChange {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly entityId: string;
}

/** The unpublished changes of an environment. */
export async function readPending(
  db: Database,
  environment: string,
): Promise<readonly PendingChange[]> {
  const { rows } = await sql<PendingChange>`
    SELECT id::text AS id, kind, entity_id AS "entityId" FROM config_outbox
    WHERE environment = ${environment} AND published_version IS NULL
  `.execute(db);
  return rows;
}

/** Rows of an environment: all of them, or those with these ids. */
export interface RowSelection {
  readonly environment: string;
  readonly ids?: readonly string[];
}

/** The query for rows, in the order of their ids. */
export type SelectRows<Row> = (selection: RowSelection) => RawBuilder<Row>;

export const selectServices = selectFrom<ServiceRow>('services', SERVICE_COLUMNS);
export const selectRoutes = selectFrom<RouteRow>('routes', ROUTE_COLUMNS);

function selectFrom<Row>(table: string, columns: readonly string[]): SelectRows<Row> {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  return ({ environment, ids }) => sql<Row>`
    SELECT ${list} FROM ${sql.table(table)}
    WHERE environment = ${environment} ${among(ids)} ORDER BY id
  `;
}

/** Tokens that may cover the environment; the compilation decides. A deleted environment has none. */
export const selectTokens: SelectRows<TokenRow> = ({ environment, ids }) => sql<TokenRow>`
  SELECT id, environments, routes, scopes,
    encode(secret_sha256, 'hex') AS secret_sha256,
    encode(previous_sha256, 'hex') AS previous_sha256,
    (extract(epoch FROM previous_expires_at) * 1000)::float8 AS previous_expires_at_ms,
    (extract(epoch FROM expires_at) * 1000)::float8 AS expires_at_ms,
    revoked_at IS NOT NULL AS revoked
  FROM tokens
  WHERE revoked_at IS NULL
    AND environments && ARRAY[${environment}, '*']::text[]
    AND EXISTS (
      SELECT FROM environments WHERE name = ${environment} AND deleted_at IS NULL
    )
    ${among(ids)}
  ORDER BY id
`;

function among(ids: readonly string[] | undefined) {
  return ids === undefined ? sql`` : sql`AND id = ANY(${ids}::text[])`;
}
