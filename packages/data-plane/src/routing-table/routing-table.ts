import type {
  UpstreamProtocol,
  WebSocketProtocol,
} from '@gateway/shared/definitions/service-protocol';
import type { ElementKind } from '@gateway/shared/snapshot/read-element';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import type { RouteMatch } from '@gateway/shared/definitions/route-match';
import type { LayeredMap } from './layered-map.ts';
import type { MatchedRoute } from './match-layers.ts';
import type { RouteMatches } from './route-matches.ts';
import type { CompiledAffinity } from './compile-affinity.ts';
import type { CompiledAuth } from './compiled-auth.ts';
import type { CompiledAnswer } from './compile-answer.ts';
import type { CompiledCors } from './compile-cors.ts';
import type { CompiledRewrite } from './compile-rewrite.ts';
import type { CompiledTls, UpstreamTls } from './compile-tls.ts';
import type { CompiledCredential } from './compile-credential.ts';
import type { CompiledMirror } from './compile-mirror.ts';

/** One address of a service. */
export interface CompiledUpstream {
  readonly key: string;
  readonly id: string;
  readonly serviceId: string;
  readonly url: string;
  readonly origin: string;
  /** Value of the Host field: the host, and the port unless it is the scheme's default. */
  readonly host: string;
  /** Path of the upstream's URL, without a trailing slash. */
  readonly basePath: string;
  readonly region: string | null;
  readonly weight: number;
  /** Those of its service; undefined: the upstream is of no service. */
  readonly limits?: ServiceLimits;
  /** undefined: the TLS defaults of this process. */
  readonly tls?: UpstreamTls;
  /** undefined: HTTP/1.1. */
  readonly protocol?: Exclude<UpstreamProtocol, 'http1'>;
  /** undefined: WebSockets have connections of HTTP/1.1 of their own, else streams of the connections of `protocol`. */
  readonly websocketProtocol?: Exclude<WebSocketProtocol, 'http1'>;
}

export interface HealthCheckPolicy {
  readonly path: string;
  /** The service that `grpc.health.v1` is asked about; undefined: the path is requested. */
  readonly grpcService?: string | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Consecutive successes that make an unhealthy upstream healthy. */
  readonly healthyThreshold: number;
  /** Consecutive failures that make a healthy upstream unhealthy. */
  readonly unhealthyThreshold: number;
}

/** Bounds of a service in one data plane. undefined: the bound follows from the settings of the data plane. */
export interface ServiceLimits {
  /** Requests of the service at one time, waiting ones included. */
  readonly maxInFlight: number | undefined;
  /** Connections to each upstream. */
  readonly maxConnections: number | undefined;
  /** Requests that wait for a connection to each upstream. */
  readonly maxPending: number | undefined;
  /** Whether the measured latency may lower the bound of requests further. */
  readonly adaptive: boolean;
}

/** A service; one object per service, shared by all routes to it. */
export interface CompiledService {
  readonly id: string;
  readonly name: string;
  readonly upstreams: readonly CompiledUpstream[];
  readonly healthCheck: HealthCheckPolicy;
  readonly limits: ServiceLimits;
  /** The version of HTTP to the upstreams. */
  readonly protocol: UpstreamProtocol;
  /** The version of HTTP in which WebSockets to the upstreams are opened. */
  readonly websocketProtocol: WebSocketProtocol;
  /** Whether the gateway names itself in `Via` to the upstreams. */
  readonly sendVia: boolean;
  /** undefined: the upstreams need no credential. */
  readonly credential: CompiledCredential | undefined;
  readonly tls?: CompiledTls | undefined;
}

/** One of the services that a route splits its requests between. */
export interface CompiledVersion {
  /** undefined: the only version of a route that names a service instead of versions. */
  readonly name: string | undefined;
  readonly service: CompiledService;
  /** Its share of the sum of all weights; a version of weight 0 is used only if the caller asks for it. */
  readonly weight: number;
  /** 32-bit hash of the route's id and the version's name; decides which callers get this version. */
  readonly seed: number;
}

export interface IdempotencyPolicy {
  /** `off`: keys are for the upstream alone; nothing is claimed or stored. */
  readonly mode: 'store' | 'off';
  /** Whether a request without a key is refused. */
  readonly required: boolean;
  /** What happens when a key is used again and the outcome of its first request is unknown. */
  readonly onUnknown: 'refuse' | 'forward';
  /** A run that ends with one of these statuses may be repeated, if it certainly had no effect. */
  readonly repeatableStatuses: readonly number[];
}

export interface QuotaPolicy {
  readonly key: string;
  /** The route requires no authentication, so anybody can cause quotas of it. */
  readonly withoutCredentials?: boolean;
  readonly limit: number;
  readonly windowMs: number;
  readonly per: 'route' | 'token' | 'ip';
  /** While NATS is away nothing is granted but what was leased before. */
  readonly refuseWithoutStore?: boolean;
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

type CompiledFields = keyof CompiledRoute | 'rate_limit' | 'respond' | 'redirect';
/** Settings that are used as the snapshot has them. A new field of a route is one of these by itself. */
export type RouteSettings = Omit<SnapshotRoute, CompiledFields>;

export interface CompiledRoute {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  /** At least one weight is above 0. Empty if the route has an answer. */
  readonly versions: readonly CompiledVersion[];
  /** undefined: requests are forwarded. */
  readonly answer: CompiledAnswer | undefined;
  readonly settings: RouteSettings;
  readonly methods: ReadonlySet<string>;
  /** undefined: requests and responses pass as they are. */
  readonly rewrite: CompiledRewrite | undefined;
  readonly auth: CompiledAuth;
  readonly quota: QuotaPolicy;
  readonly retry: RetryPolicy;
  readonly idempotency: IdempotencyPolicy;
  /** undefined: each request goes to any upstream. */
  readonly affinity?: CompiledAffinity | undefined;
  /** undefined: pages of other origins get what the upstream says. */
  readonly cors: CompiledCors | undefined;
  readonly mirror: CompiledMirror<CompiledService> | undefined;
}

/** An element of the configuration that this data plane cannot use; it uses the others. */
export interface Unusable {
  readonly kind: ElementKind;
  readonly id: string;
  /** Of a route. */
  readonly name: string | undefined;
  /** Holds none of the content. */
  readonly reason: string;
}

/**
 * A route that cannot be used keeps its name: no other route may answer its requests, and its callers must not read that
 * it does not exist.
 */
export interface UnusableRoute extends Unusable {
  readonly kind: 'route';
  readonly name: string;
  readonly environment: string;
  /** undefined if not even that can be read; then only a gateway token that covers the route learns of it. */
  readonly auth: CompiledAuth | undefined;
  /** Those that can be read. */
  readonly match: readonly RouteMatch[];
  readonly timeoutMs: number;
  /** The services that it names; a change of one may make it usable. */
  readonly serviceIds: readonly string[];
  /** undefined: only a change of the route itself can make it usable. @throws Error if it is still unusable */
  readonly compile: ((serviceOf: ServiceOf) => CompiledRoute) | undefined;
}

export type RouteEntry = CompiledRoute | UnusableRoute;
export type ServiceOf = (id: string) => CompiledService | undefined;

/** Whether requests can be forwarded by this route. */
export function isUsable(route: RouteEntry): route is CompiledRoute {
  return !('reason' in route);
}

/** A route with the ways to it, also if it cannot be used. */
export function withWays(route: RouteEntry): MatchedRoute {
  const { id, name } = route;
  return { id, name, match: isUsable(route) ? route.settings.match : route.match };
}

/** One changed entity. `before` is undefined if it is new, `after` if it was removed. */
export interface Replaced<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/** A name whose requests are refused. */
export interface RefusedName {
  /** What its requests find. */
  readonly route: UnusableRoute;
  /** All that have the name: one, unless the configuration contradicts itself. */
  readonly claimants: readonly RouteEntry[];
}

export interface Token {
  readonly id: string;
  readonly environments: readonly string[];
  readonly routes: ReadonlySet<string>;
  readonly mayProxy: boolean;
  /** Milliseconds since the Unix epoch; Infinity if the token does not expire. */
  readonly expiresAtMs: number;
}

export interface EnvironmentTable {
  readonly name: string;
  /**
   * Names what outlives a configuration, such as quotas and idempotency keys. It is the name of the environment, or its id
   * if another environment had the name before: that one's state is not its own.
   */
  readonly stateKey: string;
  readonly version: number;
  /** By id. */
  readonly services: LayeredMap<CompiledService>;
  /** By name; without the unusable ones. */
  readonly routes: LayeredMap<CompiledRoute>;
  /** By name: those that cannot be used, or that share their name. */
  readonly refusedNames: LayeredMap<RefusedName>;
  /** The ways to all routes, the unusable ones included, by host, path and header fields. */
  readonly matches: RouteMatches;
  /** By the SHA-256 of the secret, hex. */
  readonly tokens: LayeredMap<Token>;
  /** What this data plane cannot use, by kind and id. */
  readonly unusable: LayeredMap<Unusable>;
}

/**
 * Everything needed to route a request. A table never changes: a new configuration is a new table, and
 * a request reads the reference once, so that it uses one configuration from start to end.
 */
export interface RoutingTable {
  readonly environments: ReadonlyMap<string, EnvironmentTable>;
  /** Those of them with routes that are found by host, path or header fields. */
  readonly matched: readonly EnvironmentTable[];
}

export const EMPTY_TABLE: RoutingTable = { environments: new Map(), matched: [] };

/** The table with one environment replaced. */
export function withEnvironment(table: RoutingTable, environment: EnvironmentTable): RoutingTable {
  const environments = new Map(table.environments).set(environment.name, environment);
  return {
    environments,
    matched: [...environments.values()].filter(({ matches }) => !matches.isEmpty),
  };
}

/** The token with this hash of its secret, in any environment, expired or not. */
export function findToken(table: RoutingTable, hash: string): Token | undefined {
  for (const environment of table.environments.values()) {
    const token = environment.tokens.get(hash);
    if (token !== undefined) return token;
  }
  return undefined;
}

/** All routes of the environment, the unusable ones included. */
export function* routesOf({ routes, refusedNames }: EnvironmentTable): Generator<RouteEntry> {
  yield* routes.values();
  for (const { claimants } of refusedNames.values()) yield* claimants;
}

/** All upstreams of all services of the table, by key. */
export function upstreamsOf(table: RoutingTable): Map<string, CompiledUpstream> {
  const upstreams = new Map<string, CompiledUpstream>();
  for (const environment of table.environments.values()) {
    for (const service of environment.services.values()) {
      for (const upstream of service.upstreams) upstreams.set(upstream.key, upstream);
    }
  }
  return upstreams;
}
