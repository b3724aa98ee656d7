import type { SealedSecret } from '@gateway/shared/secrets/secret-vault';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { HealthCheck, Upstream } from '../domain/service.ts';
import type { RouteAuth } from '../domain/route-auth.ts';
import type { Idempotency, RateLimit, Retry, RouteSettings } from '../domain/route.ts';
import type { RouteVersion } from '../domain/route-versions.ts';
import type { ServiceTls } from '../domain/service-tls.ts';
import type { StoredCredential } from '../domain/service-credential.ts';

/** The tables of the configuration, as the migrations leave them, as kysely sees them. */
export interface Tables {
  environments: EnvironmentsTable;
  services: ServicesTable;
  routes: RoutesTable;
  route_services: RouteServicesTable;
  tokens: TokensTable;
  config_outbox: OutboxTable;
  config_versions: VersionsTable;
}

interface EnvironmentsTable {
  name: string;
  config_version: Generated<number>;
  /** The newest version that was published as a whole snapshot; 0 before the first. */
  snapshot_version: Generated<number>;
  snapshot_at: ColumnType<Date | null, never>;
  /** What making it took, ms. */
  snapshot_cost_ms: Generated<number>;
  created_at: Date;
}

/** Read as what it holds; written as JSON text, as the driver takes an array for one of Postgres. */
type Json<T extends object> = JSONColumnType<T>;

interface ServicesTable {
  id: string;
  environment: string;
  name: string;
  health_path: string;
  health_check: Json<HealthCheck>;
  upstreams: Json<Upstream[]>;
  credential: ColumnType<StoredCredential | null, string | null, string | null>;
  tls: ColumnType<ServiceTls | null, string | null, string | null>;
  client_key: ColumnType<SealedSecret | null, string | null, string | null>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface RoutesTable {
  id: string;
  environment: string;
  name: string;
  service_id: string | null;
  versions: ColumnType<RouteVersion[] | null, string | null, string | null>;
  status: RouteSettings['status'];
  timeout_ms: number;
  retry_count: number;
  methods: RouteSettings['methods'];
  auth: Json<RouteAuth>;
  rate_limit: Json<RateLimit>;
  retry: Json<Retry>;
  idempotency: Json<Idempotency>;
  regions: string[];
  max_body_bytes: number;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

/** Every service that a route names; kept by a trigger, so it is only read. */
interface RouteServicesTable {
  route_id: ColumnType<string, never, never>;
  environment: ColumnType<string, never, never>;
  service_id: ColumnType<string, never, never>;
}

interface TokensTable {
  id: string;
  name: string;
  environments: string[];
  routes: string[];
  scopes: string[];
  secret_sha256: Buffer;
  previous_sha256: Buffer | null;
  previous_expires_at: Date | null;
  expires_at: Date | null;
  created_by: string | null;
  created_at: Date;
  updated_at: Date;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export type ChangeKind = 'service' | 'route' | 'token' | 'environment' | 'all';

interface OutboxTable {
  id: Generated<number>;
  environment: string;
  change: string;
  /** null: by a control plane of the version before; as all. */
  kind: ColumnType<ChangeKind | null, ChangeKind | null, never>;
  entity_id: ColumnType<string | null, string | null, never>;
  /** The whole row of a service or route, as JSON; null where there was none, and for other kinds. */
  before: ColumnType<unknown, string | null | undefined, never>;
  after: ColumnType<unknown, string | null | undefined, never>;
  /** Who made it; null: no token did. */
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
