import { NEEDS_WRITES } from '../servers/writable-server.ts';
import { UNPACED, type Pace } from '@gateway/shared/pace';
import { routeSchema, serviceSchema } from '@gateway/shared/snapshot/schema';
import { sql, type Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { ChangeKind, Tables } from '../tables.ts';

/** The rows that a snapshot is compiled from. */
export interface ConfigurationRows {
  readonly environment: string;
  readonly services: readonly ServiceRow[];
  readonly routes: readonly RouteRow[];
  readonly tokens: readonly TokenRow[];
}

/** The columns in a snapshot, and those that it is compiled from. */
const SERVICE_COLUMNS = [...serviceSchema.keyof().options, 'health_path', 'client_key'] as const;
const ROUTE_COLUMNS = [...routeSchema.keyof().options, 'service_id', 'status'] as const;

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

/** Rows are read in pages, because a large result would block the event loop. */
const PAGE_ROWS = 250;

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
    const configVersion = await readVersion(transaction, environment);
    if (configVersion === undefined) return undefined;
    const all = <Row extends { readonly id: string }>(select: SelectRows<Row>) =>
      readPages((after) => select(transaction, { environment, after, limit: PAGE_ROWS }), pace);
    return {
      configVersion,
      pendingIds: (await readPending(transaction, environment)).map(({ id }) => id),
      rows: {
        environment,
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
      await sql.raw(NEEDS_WRITES).execute(transaction);
      return read(transaction);
    });
}

async function readPages<Row extends { readonly id: string }>(
  readAfter: (id: string) => Promise<readonly Row[]>,
  pace: Pace,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const page = await readAfter(after);
    rows.push(...page);
    after = page.length < PAGE_ROWS ? undefined : page.at(-1)?.id;
    const turn = pace();
    if (turn !== undefined) await turn;
  }
  return rows;
}

/** The published version; undefined if there is no such environment. */
export async function readVersion(db: Database, environment: string): Promise<number | undefined> {
  const { rows } = await sql<{ config_version: number }>`
    SELECT config_version::float8 AS config_version
    FROM environments WHERE name = ${environment}
  `.execute(db);
  return rows[0]?.config_version;
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

/** Rows of an environment: the next ones by id, or those with these ids. */
export type RowSelection = { readonly environment: string } & (
  | { readonly after: string; readonly limit: number }
  | { readonly ids: readonly string[] }
);

export type SelectRows<Row> = (db: Database, selection: RowSelection) => Promise<readonly Row[]>;

export const selectServices = selectFrom<ServiceRow>('services', SERVICE_COLUMNS);
export const selectRoutes = selectFrom<RouteRow>('routes', ROUTE_COLUMNS);

function selectFrom<Row>(table: string, columns: readonly string[]): SelectRows<Row> {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  return async (db, selection) => {
    const { rows } = await sql<Row>`
      SELECT ${list} FROM ${sql.table(table)}
      WHERE environment = ${selection.environment} AND ${condition(selection)}
    `.execute(db);
    return rows;
  };
}

/** Tokens that may cover the environment; the compilation decides. A deleted environment has none. */
export const selectTokens: SelectRows<TokenRow> = async (db, selection) => {
  const { rows } = await sql<TokenRow>`
    SELECT id, environments, routes, scopes,
      encode(secret_sha256, 'hex') AS secret_sha256,
      encode(previous_sha256, 'hex') AS previous_sha256,
      (extract(epoch FROM previous_expires_at) * 1000)::float8 AS previous_expires_at_ms,
      (extract(epoch FROM expires_at) * 1000)::float8 AS expires_at_ms,
      revoked_at IS NOT NULL AS revoked
    FROM tokens
    WHERE revoked_at IS NULL
      AND environments && ARRAY[${selection.environment}, '*']::text[]
      AND EXISTS (
        SELECT FROM environments WHERE name = ${selection.environment} AND deleted_at IS NULL
      )
      AND ${condition(selection)}
  `.execute(db);
  return rows;
};

function condition(selection: RowSelection) {
  return 'ids' in selection
    ? sql`id = ANY(${selection.ids}::text[])`
    : sql`id > ${selection.after} ORDER BY id LIMIT ${selection.limit}`;
}
