import type {
  Snapshot,
  SnapshotRoute,
  SnapshotService,
  SnapshotToken,
  SnapshotUpstream,
} from '@gateway/shared/snapshot/schema';
import type { CompiledRoute, CompiledUpstream, EnvironmentTable, Token } from './routing-table.ts';

/**
 * Makes the table of one environment from its snapshot. Pure: the same snapshot gives the same table.
 *
 * @throws Error where the snapshot contradicts itself, such as a route to a service that is not in it;
 * the caller then keeps the table that it has.
 */
export function compileEnvironment(snapshot: Snapshot): EnvironmentTable {
  const services = new Map<string, SnapshotService>();
  for (const service of snapshot.services) services.set(service.id, service);
  const routes = new Map<string, CompiledRoute>();
  for (const route of snapshot.routes) {
    const service = services.get(route.service_id);
    if (service === undefined) throw new Error(`route ${route.id} names an unknown service`);
    if (routes.has(route.name)) throw new Error(`route ${route.id} has the name of another`);
    routes.set(route.name, compileRoute(route, service, snapshot.environment));
  }
  const tokens = new Map<string, Token>();
  for (const token of snapshot.tokens) {
    for (const [hash, compiled] of compileToken(token)) tokens.set(hash, compiled);
  }
  return { name: snapshot.environment, version: snapshot.version, routes, tokens };
}

function compileRoute(
  route: SnapshotRoute,
  service: SnapshotService,
  environment: string,
): CompiledRoute {
  return {
    id: route.id,
    name: route.name,
    environment,
    serviceId: service.id,
    upstreams: service.upstreams.map((upstream) => compileUpstream(upstream, service)),
    timeoutMs: route.timeout_ms,
    retryCount: route.retry_count,
    methods: route.methods === null ? undefined : new Set(route.methods),
    authType: route.auth.type,
    quota: {
      key: `${environment}/${route.name}`,
      limit: route.rate_limit.limit,
      windowMs: route.rate_limit.window_seconds * 1000,
      per: route.rate_limit.per,
    },
    retry: {
      onStatuses: new Set(route.retry.on_statuses),
      perAttemptTimeoutMs: route.retry.per_attempt_timeout_ms ?? undefined,
      backoffMs: route.retry.backoff_ms,
      unsafeMethods: route.retry.unsafe_methods,
    },
    maxBodyBytes: route.max_body_bytes,
  };
}

function compileUpstream(upstream: SnapshotUpstream, service: SnapshotService): CompiledUpstream {
  const url = new URL(upstream.url);
  return {
    // Health, pools and in-flight counts are kept under this key, so they outlive a configuration
    // that leaves the address as it was, and no two services share a pool.
    key: `${service.id} ${upstream.id} ${url.origin}`,
    id: upstream.id,
    serviceId: service.id,
    url: upstream.url,
    origin: url.origin,
    host: url.host,
    basePath: url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname,
    region: upstream.region,
    weight: upstream.weight,
  };
}

function* compileToken(token: SnapshotToken): Generator<[string, Token]> {
  for (const secret of token.secrets) {
    yield [
      secret.sha256,
      {
        id: token.id,
        environments: token.environments,
        routes: new Set(token.routes),
        mayProxy: token.scopes.includes('proxy') || token.scopes.includes('*'),
        expiresAtMs: secret.expires_at_ms ?? Infinity,
      },
    ];
  }
}
