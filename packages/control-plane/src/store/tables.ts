import type { ColumnType, Generated } from 'kysely';
import type { Environment } from '../domain/environment.ts';
import type { Route } from '../domain/route.ts';
import type { Service } from '../domain/service.ts';
import type { Token } from '../domain/token.ts';

/** The tables of the configuration, as the migrations create them. A row has the fields of its resource. */
export interface Tables {
  environments: EnvironmentsTable;
  services: TableOf<Service, 'services'>;
  routes: TableOf<Route, 'routes'>;
  route_services: RouteServicesTable;
  tokens: TokensTable;
  config_outbox: OutboxTable;
  config_versions: VersionsTable;
}

/** Columns of type jsonb. */
const JSON_COLUMNS = {
  services: ['health_check', 'upstreams', 'credential', 'tls', 'client_key'],
  routes: ['versions', 'auth', 'rate_limit', 'retry', 'idempotency'],
} as const;

type JsonTable = keyof typeof JSON_COLUMNS;
type JsonColumn<Table extends JsonTable> = (typeof JSON_COLUMNS)[Table][number];

/** Read as what it holds; written as JSON text, as the driver takes an array for one of Postgres. */
type Json<T> = ColumnType<T, JsonText<T>, JsonText<T>>;
type JsonText<T> = null extends T ? string | null : string;

/** The columns of a table that holds a resource: those of the resource. */
type TableOf<Row, Table extends JsonTable> = {
  -readonly [K in keyof Row]: K extends JsonColumn<Table>
    ? Json<Row[K]>
    : K extends 'revision'
      ? Generated<Row[K]>
      : Row[K];
};

/** Fields of a resource as the statements that write its row take them. */
export function columnsOf<Table extends JsonTable, Row extends object>(
  table: Table,
  row: Row,
): Columns<Row, Table> {
  const json: readonly string[] = JSON_COLUMNS[table];
  const columns = Object.entries(row).map(([name, value]: [string, unknown]) => [
    name,
    json.includes(name) && value !== null ? JSON.stringify(value) : value,
  ]);
  return Object.fromEntries(columns) as Columns<Row, Table>;
}

type Columns<Row, Table extends JsonTable> = {
  -readonly [K in keyof Row]: K extends JsonColumn<Table> ? JsonText<Row[K]> : Row[K];
};

interface EnvironmentsTable extends Pick<Environment, 'name' | 'created_at'> {
  config_version: Generated<Environment['config_version']>;
  /** The newest version that was published as a whole snapshot; 0 before the first. */
  snapshot_version: Generated<number>;
  snapshot_at: ColumnType<Date | null, never>;
  /** How long it took to make, ms. */
  snapshot_cost_ms: Generated<number>;
}

/** Every service that a route names. A trigger keeps it, so it is only read. */
interface RouteServicesTable {
  route_id: ColumnType<string, never, never>;
  environment: ColumnType<string, never, never>;
  service_id: ColumnType<string, never, never>;
}

interface TokensTable extends Omit<Token, 'last_used_at'> {
  last_used_at: Generated<Date | null>;
  secret_sha256: Buffer;
  previous_sha256: ColumnType<Buffer | null, Buffer | null | undefined>;
  previous_expires_at: ColumnType<Date | null, Date | null | undefined>;
  revoked_at: ColumnType<Date | null, Date | null | undefined>;
}

export type ChangeKind = 'service' | 'route' | 'token' | 'environment';

interface OutboxTable {
  id: Generated<number>;
  environment: string;
  /** As in audit events: `route.updated`. */
  action: string;
  kind: ChangeKind;
  entity_id: string;
  /** The whole row of a service or route, as JSON; null if there was none, and for other kinds. */
  before: ColumnType<unknown, string | null | undefined, never>;
  after: ColumnType<unknown, string | null | undefined, never>;
  /** Who made the change; null: the control plane itself. */
  token_id: ColumnType<string | null, string | null | undefined, never>;
  created_at: ColumnType<Date, never, never>;
  published_version: number | null;
}

interface VersionsTable {
  environment: string;
  version: number;
  published_at: Generated<Date>;
  why: string;
}
