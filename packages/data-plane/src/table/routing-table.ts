import type { RetryPolicy } from '../upstream/retry.ts';

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
}

export interface QuotaPolicy {
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly per: 'route' | 'token' | 'ip';
}

export interface CompiledRoute {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly upstreams: readonly CompiledUpstream[];
  readonly timeoutMs: number;
  readonly retryCount: number;
  /** undefined: every method that the proxy path takes. */
  readonly methods: ReadonlySet<string> | undefined;
  readonly authType: 'token' | 'none';
  readonly quota: QuotaPolicy;
  readonly retry: RetryPolicy;
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
  readonly routes: ReadonlyMap<string, CompiledRoute>;
  /** By the SHA-256 of the secret, hex. */
  readonly tokens: ReadonlyMap<string, Token>;
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

/** Every upstream that some route of the table may be sent to. */
export function upstreamsOf(table: RoutingTable): Map<string, CompiledUpstream> {
  const upstreams = new Map<string, CompiledUpstream>();
  for (const environment of table.environments.values()) {
    for (const route of environment.routes.values()) {
      for (const upstream of route.upstreams) upstreams.set(upstream.key, upstream);
    }
  }
  return upstreams;
}
