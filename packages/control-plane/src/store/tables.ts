import type { ColumnType, Generated } from 'kysely';
import type { Environment } from '../environments/environment.ts';
import type { Route } from '../routes/route.ts';
import type { Service } from '../services/service.ts';
import type { Token } from '../tokens/token.ts';

/** The tables of the configuration, as the migrations create them. A row has the fields of its resource. */
export interface Tables {
  environments: EnvironmentsTable;
  services: TableOf<Service>;
  routes: TableOf<Route>;
  route_services: RouteServicesTable;
  tokens: TokensTable;
  replaced_secrets: ReplacedSecretsTable;
  config_outbox: OutboxTable;
  config_versions: VersionsTable;
}

/** The types of columns that are not jsonb; a list of strings is an array of Postgres. */
type Scalar = string | number | boolean | Date | readonly string[] | null;

/** Read as its value, written as JSON text, because the driver sends an array as a Postgres array. */
type Json<T> = ColumnType<T, JsonText<T>, JsonText<T>>;
type JsonText<T> = null extends T ? string | null : string;

/** The columns of a resource's table: the fields of the resource. */
type TableOf<Row> = {
  -readonly [K in keyof Row]: K extends 'revision'
    ? Generated<Row[K]>
    : Row[K] extends Scalar
      ? Row[K]
      : Json<Row[K]>;
};

interface EnvironmentsTable extends Pick<Environment, 'name'> {
  /** The database sets this and the next one; see migration 0013. */
  id: ColumnType<string, never, never>;
  first_version: ColumnType<number | null, never, never>;
  created_at: ColumnType<Date, Date, Date>;
  config_version: Generated<Environment['config_version']>;
  /** The newest version with a snapshot; 0 before the first. */
  snapshot_version: Generated<number>;
  snapshot_at: ColumnType<Date | null, never>;
  /** How long the last snapshot took, ms. */
  snapshot_cost_ms: Generated<number>;
  deleted_at: ColumnType<Date | null, never, Date | null>;
}

/** Every service that a route names. A trigger maintains it. */
interface RouteServicesTable {
  route_id: ColumnType<string, never, never>;
  environment: ColumnType<string, never, never>;
  service_id: ColumnType<string, never, never>;
}

interface TokensTable extends Omit<Token, 'last_used_at' | 'secret_prefix'> {
  secret_prefix: ColumnType<string | null, string | null | undefined>;
  last_used_at: Generated<Date | null>;
  secret_sha256: Buffer;
  previous_sha256: ColumnType<Buffer | null, Buffer | null | undefined>;
  previous_expires_at: ColumnType<Date | null, Date | null | undefined>;
  revoked_at: ColumnType<Date | null, Date | null | undefined>;
}

/** The secrets that tokens had before. A trigger maintains it. */
interface ReplacedSecretsTable {
  sha256: ColumnType<Buffer, never, never>;
  token_id: ColumnType<string, never, never>;
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
  /** The version that a rollback restored with this change. */
  restored_version: ColumnType<number | null, number | null | undefined, never>;
}

interface VersionsTable {
  environment: string;
  version: number;
  published_at: Generated<Date>;
  why: string;
}
