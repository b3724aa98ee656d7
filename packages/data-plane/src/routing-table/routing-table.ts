import type { JwtAlgorithm } from '@gateway/shared/tokens/jwt-algorithms';
import type { LayeredMap } from './layered-map.ts';
import type { CompiledTls, UpstreamTls } from './compile-tls.ts';
import type { CompiledCredential } from './compile-credential.ts';

/** One address that a service runs at. */
export interface CompiledUpstream {
  readonly key: string;
  readonly id: string;
  readonly serviceId: string;
  readonly url: string;
  readonly origin: string;
  /** Value of the Host field: host, and the port where it is not the scheme's own. */
  readonly host: string;
  /** Path of the upstream's URL, without a slash at its end. */
  readonly basePath: string;
  readonly region: string | null;
  readonly weight: number;
  /** undefined: as this process connects by itself. */
  readonly tls?: UpstreamTls;
}

export interface HealthCheckPolicy {
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Good answers in a row that make an unhealthy upstream healthy. */
  readonly healthyThreshold: number;
  /** Bad answers in a row that make a healthy upstream unhealthy. */
  readonly unhealthyThreshold: number;
}

/** Made once for each service of a configuration, and shared by every route that leads to it. */
export interface CompiledService {
  readonly id: string;
  readonly name: string;
  readonly upstreams: readonly CompiledUpstream[];
  readonly healthCheck: HealthCheckPolicy;
  /** undefined: the upstreams let the gateway in without one. */
  readonly credential: CompiledCredential | undefined;
  readonly tls?: CompiledTls | undefined;
}

/** One of the services that a route divides its requests among. */
export interface CompiledVersion {
  /** undefined: the one version of a route that names a service instead of versions. */
  readonly name: string | undefined;
  readonly service: CompiledService;
  /** Its share is that of this in the sum over the route; 0 is reached by the caller's choice alone. */
  readonly weight: number;
  /** Hash of the route's id and the version's name, 32 bits; the base of who sticks to it. */
  readonly seed: number;
}

/** How the callers of a route prove who they are. */
export type CompiledAuth =
  { readonly type: 'token' } | { readonly type: 'api_key' } | { readonly type: 'none' } | JwtAuth;

export interface JwtAuth {
  readonly type: 'jwt';
  readonly issuer: string;
  /** The token must be meant for one of these. */
  readonly audience: readonly string[];
  readonly jwksUrl: string;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly requiredClaims: readonly RequiredClaim[];
}

export interface RequiredClaim {
  readonly name: string;
  /** undefined: the claim must be there, whatever it holds. */
  readonly values: ReadonlySet<string | number | boolean> | undefined;
}

export interface IdempotencyPolicy {
  /** Whether a request without a key is refused. */
  readonly required: boolean;
  /** What the next use of a key does whose first request has an unknown end. */
  readonly onUnknown: 'refuse' | 'forward';
}

export interface QuotaPolicy {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly per: 'route' | 'token' | 'ip';
}

export interface RetryPolicy {
  /** Statuses of the upstream that are retried. */
  readonly onStatuses: ReadonlySet<number>;
  /** undefined: an attempt may use all the time left until the deadline. */
  readonly perAttemptTimeoutMs: number | undefined;
  /** The longest back-off before the first retry; it doubles with each retry. */
  readonly backoffMs: number;
  /** When a method that is not idempotent may be retried after it was sent. */
  readonly unsafeMethods: 'never' | 'with_idempotency_key' | 'always';
}

export interface CompiledRoute {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  /** At least one, and the weight of one at least is above 0. */
  readonly versions: readonly CompiledVersion[];
  readonly timeoutMs: number;
  readonly retryCount: number;
  /** undefined: every method that the proxy path takes. */
  readonly methods: ReadonlySet<string> | undefined;
  readonly auth: CompiledAuth;
  readonly quota: QuotaPolicy;
  readonly retry: RetryPolicy;
  readonly idempotency: IdempotencyPolicy;
  /** Where to go when the data plane's own region has no healthy upstream, in this order. */
  readonly regions: readonly string[];
  readonly maxBodyBytes: number;
}

export interface Token {
  readonly id: string;
  readonly environments: readonly string[];
  readonly routes: ReadonlySet<string>;
  readonly mayProxy: boolean;
  /** Milliseconds since the Unix epoch from which it opens nothing; Infinity where it has no end. */
  readonly expiresAtMs: number;
}

export interface EnvironmentTable {
  readonly name: string;
  readonly version: number;
  /** By id. */
  readonly services: LayeredMap<CompiledService>;
  /** By name. */
  readonly routes: LayeredMap<CompiledRoute>;
  /** By the SHA-256 of the secret, hex. */
  readonly tokens: LayeredMap<Token>;
}

/**
 * Everything that a request needs to be routed, never changed: a new configuration is a new table,
 * and a request reads the reference once, so it sees one configuration from beginning to end.
 */
export interface RoutingTable {
  readonly environments: ReadonlyMap<string, EnvironmentTable>;
}

export const EMPTY_TABLE: RoutingTable = { environments: new Map() };

/** The table with one environment replaced. */
export function withEnvironment(table: RoutingTable, environment: EnvironmentTable): RoutingTable {
  return { environments: new Map(table.environments).set(environment.name, environment) };
}

/** The token of this secret's hash in any environment, whether it has expired or not. */
export function findToken(table: RoutingTable, hash: string): Token | undefined {
  for (const environment of table.environments.values()) {
    const token = environment.tokens.get(hash);
    if (token !== undefined) return token;
  }
  return undefined;
}

/** Every upstream of every service of the table. */
export function upstreamsOf(table: RoutingTable): Map<string, CompiledUpstream> {
  const upstreams = new Map<string, CompiledUpstream>();
  for (const environment of table.environments.values()) {
    for (const service of environment.services.values()) {
      for (const upstream of service.upstreams) upstreams.set(upstream.key, upstream);
    }
  }
  return upstreams;
}
