import { DEFAULT_METHODS } from '@gateway/shared/http/methods';
import type { Steps } from '@gateway/shared/pace';
import type { ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type {
  SnapshotLimits,
  SnapshotRoute,
  SnapshotService,
  SnapshotToken,
  SnapshotUpstream,
  SnapshotVersion,
} from '@gateway/shared/snapshot/schema';
import { compileAffinity } from './compile-affinity.ts';
import { compileAnswer } from './compile-answer.ts';
import { compileAuth, readableAuth } from './compile-auth.ts';
import { httpUrl } from './http-url.ts';
import { compileCors } from './compile-cors.ts';
import { compileCredential, NO_KEYS, type CredentialOpener } from './compile-credential.ts';
import { compileRewrite } from './compile-rewrite.ts';
import { compileMirror } from './compile-mirror.ts';
import { compileTls, type UpstreamTls } from './compile-tls.ts';
import { LayeredMap } from './layered-map.ts';
import { RouteMatches } from './route-matches.ts';
import { isSameService } from './same-service.ts';
import { hashText } from './hash-text.ts';
import {
  withWays,
  type CompiledRoute,
  type CompiledService,
  type CompiledUpstream,
  type CompiledVersion,
  type EnvironmentTable,
  type RefusedName,
  type RouteEntry,
  type ServiceLimits,
  type ServiceOf,
  type Token,
  type Unusable,
} from './routing-table.ts';
import {
  assignName,
  compiledOrUnusable,
  keyOf,
  reasonOf,
  refusalsOf,
  requireService,
  unreadableRoute,
} from './unusable.ts';

/**
 * Compiles the snapshot of one environment to a table, one element per step. Pure: the same snapshot
 * gives the same table. What cannot be used is left out and listed; the rest is compiled.
 *
 * @param before the table to replace. Its unchanged services are reused, so that code which keeps state
 * for a service can tell by identity that the service is unchanged
 * @param opener decrypts the services' credentials; without it no credential is usable
 */
export function* compileEnvironment(
  snapshot: ReadSnapshot,
  before?: EnvironmentTable,
  opener: CredentialOpener = NO_KEYS,
): Steps<EnvironmentTable> {
  const unusable = new Map<string, Unusable>();
  const report = (element: Unusable) => unusable.set(keyOf(element), element);
  const services = new Map<string, CompiledService>();
  for (const service of snapshot.services) {
    const taken = takeService(service, before?.services.get(service.id), opener);
    if ('reason' in taken) report(taken);
    else services.set(service.id, taken);
    yield;
  }
  const serviceOf = (id: string) => services.get(id);
  const { environment: environmentName, environment_id: stateKey = environmentName } = snapshot;
  const environment = { name: environmentName, stateKey };
  const byName = new Map<string, RouteEntry[]>();
  const addRoute = (route: RouteEntry) => {
    const others = byName.get(route.name);
    if (others === undefined) byName.set(route.name, [route]);
    else others.push(route);
  };
  for (const route of snapshot.routes) {
    addRoute(takeRoute(route, serviceOf, environment));
    yield;
  }
  const tokens = new Map<string, Token>();
  for (const token of snapshot.tokens) {
    for (const [hash, compiled] of compileToken(token)) tokens.set(hash, compiled);
    yield;
  }
  for (const element of snapshot.unreadable ?? []) {
    if (element.kind === 'route') addRoute(unreadableRoute(element, environment));
    else report(element);
    yield;
  }
  const routes = new Map<string, CompiledRoute>();
  const refusedNames = new Map<string, RefusedName>();
  for (const [name, claimants] of byName) {
    const assigned = assignName(name, claimants);
    if (assigned === undefined) continue;
    if ('claimants' in assigned) {
      refusedNames.set(name, assigned);
      for (const refusal of refusalsOf(assigned)) report(refusal);
    } else routes.set(name, assigned);
    yield;
  }
  const matches = yield* RouteMatches.of([...byName.values()].flat().map(withWays));
  return {
    ...environment,
    version: snapshot.version,
    services: LayeredMap.of(services),
    routes: LayeredMap.of(routes),
    refusedNames: LayeredMap.of(refusedNames),
    matches,
    tokens: LayeredMap.of(tokens),
    unusable: LayeredMap.of(unusable),
  };
}

/** The known service if compiling would give the same, else the compiled service, or why there is none. */
export function takeService(
  service: SnapshotService,
  known: CompiledService | undefined,
  opener: CredentialOpener,
): CompiledService | Unusable {
  if (known !== undefined && isSameService(known, service)) return known;
  try {
    return compileService(service, opener);
  } catch (error) {
    return { kind: 'service', id: service.id, name: undefined, reason: reasonOf(error) };
  }
}

function compileService(service: SnapshotService, opener: CredentialOpener): CompiledService {
  const check = service.health_check;
  const limits = compileLimits(service.limits);
  const tls = compileTls(service.tls, service.id, opener);
  return {
    id: service.id,
    name: service.name,
    upstreams: service.upstreams.map((upstream) =>
      compileUpstream(upstream, service, limits, tls?.tls),
    ),
    healthCheck: {
      path: check.path,
      grpcService: check.type === 'grpc' ? check.grpc_service : undefined,
      intervalMs: check.interval_ms,
      timeoutMs: check.timeout_ms,
      healthyThreshold: check.healthy_threshold,
      unhealthyThreshold: check.unhealthy_threshold,
    },
    limits,
    protocol: service.protocol,
    websocketProtocol: service.websocket_protocol,
    sendVia: service.send_via,
    // Without the client key nothing may be sent either.
    credential: tls?.unusable ?? compileCredential(service.credential, service.id, opener),
    tls,
  };
}

function compileLimits(limits: SnapshotLimits): ServiceLimits {
  return {
    maxInFlight: limits.max_in_flight ?? undefined,
    maxConnections: limits.max_connections ?? undefined,
    maxPending: limits.max_pending ?? undefined,
    adaptive: limits.adaptive,
  };
}

function compileUpstream(
  upstream: SnapshotUpstream,
  service: SnapshotService,
  limits: ServiceLimits,
  tls: UpstreamTls | undefined,
): CompiledUpstream {
  const url = httpUrl(upstream.url);
  if (url === undefined) throw new Error('the URL of an upstream is not one of HTTP');
  const protocol = service.protocol === 'http1' ? undefined : service.protocol;
  const hasStreamsForWebSockets = protocol !== undefined && service.websocket_protocol === 'http2';
  const peer = [service.id, upstream.id, url.origin, tls?.fingerprint, protocol];
  return {
    // Health, pools and in-flight counts are kept under this key. So they survive a configuration
    // change that keeps the address, and no two services share a pool. Different TLS settings or
    // another protocol make a different peer.
    key: peer.filter((part) => part !== undefined).join(' '),
    id: upstream.id,
    serviceId: service.id,
    url: upstream.url,
    origin: url.origin,
    host: url.host,
    basePath: url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname,
    region: upstream.region,
    weight: upstream.weight,
    limits,
    ...(tls !== undefined && { tls }),
    ...(protocol !== undefined && { protocol }),
    ...(hasStreamsForWebSockets && { websocketProtocol: 'http2' }),
  };
}

/** The compiled route, or why it cannot be used. */
export function takeRoute(
  route: SnapshotRoute,
  serviceOf: ServiceOf,
  environment: Pick<EnvironmentTable, 'name' | 'stateKey'>,
): RouteEntry {
  const compile = (services: ServiceOf) => compileRoute(route, services, environment);
  return compiledOrUnusable(compile, serviceOf, () => ({
    id: route.id,
    name: route.name,
    environment: environment.name,
    auth: readableAuth(route.auth),
    match: route.match,
    timeoutMs: route.timeout_ms,
    serviceIds: route.versions.map((version) => version.service_id),
  }));
}

/** The methods of the routes that have no list. */
const WITHOUT_LIST: ReadonlySet<string> = new Set(DEFAULT_METHODS);

/** @throws Error if a service is missing, targets or versions contradict each other, the key set has no address, or it cannot be rewritten so */
function compileRoute(
  route: SnapshotRoute,
  serviceOf: ServiceOf,
  environment: Pick<EnvironmentTable, 'name' | 'stateKey'>,
): CompiledRoute {
  const { id, name, versions, methods, rewrite, affinity, cors, auth, ...rest } = route;
  const { rate_limit, retry, idempotency, respond, redirect, ...settings } = rest;
  const answer = compileAnswer({ respond, redirect });
  if (answer !== undefined && versions.length > 0) {
    throw new Error('it has a service and an answer of its own');
  }
  const accepted = methods === null ? WITHOUT_LIST : new Set(methods);
  return {
    id,
    name,
    environment: environment.name,
    versions: answer === undefined ? compileVersions(id, versions, serviceOf) : [],
    answer,
    mirror: compileMirror(settings.mirror, serviceOf),
    settings,
    methods: accepted,
    // Nothing is sent on, so nothing is rewritten, and no request is refused for it.
    rewrite: answer === undefined ? compileRewrite(rewrite, settings.match) : undefined,
    auth: compileAuth(auth),
    quota: {
      key: `${environment.stateKey}/${name}`,
      withoutCredentials: auth.type === 'none',
      limit: rate_limit.limit,
      windowMs: rate_limit.window_seconds * 1000,
      per: rate_limit.per,
      refuseWithoutStore: rate_limit.on_store_unavailable === 'refuse',
    },
    retry: {
      onStatuses: new Set(retry.on_statuses),
      perAttemptTimeoutMs: retry.per_attempt_timeout_ms ?? undefined,
      backoffMs: retry.backoff_ms,
      unsafeMethods: retry.unsafe_methods,
    },
    idempotency: {
      mode: idempotency.mode,
      required: idempotency.required,
      onUnknown: idempotency.on_unknown,
      repeatableStatuses: idempotency.repeatable_statuses,
    },
    affinity: answer === undefined ? compileAffinity(affinity) : undefined,
    cors: cors === null ? undefined : compileCors(cors, accepted),
  };
}

/** @throws Error if two versions share a name or no version has a weight: neither can be served as set */
function compileVersions(
  routeId: string,
  given: readonly SnapshotVersion[],
  serviceOf: ServiceOf,
): readonly CompiledVersion[] {
  const versions = given.map((version) => compileVersion(routeId, version, serviceOf));
  if (versions.length > 1 && new Set(versions.map(({ name }) => name)).size < versions.length) {
    throw new Error('two of its versions have the same name');
  }
  if (!versions.some((version) => version.weight > 0)) {
    throw new Error('none of its versions has a weight above 0');
  }
  return versions;
}

function compileVersion(
  routeId: string,
  version: SnapshotVersion,
  serviceOf: ServiceOf,
): CompiledVersion {
  return {
    name: version.name ?? undefined,
    service: requireService(version.service_id, serviceOf),
    weight: version.weight,
    // A version without a name is the only one, so no version is drawn.
    seed: version.name === null ? 0 : hashText(`${routeId} ${version.name}`),
  };
}

/** One entry per secret of the token, keyed by the hash of the secret. */
export function* compileToken(token: SnapshotToken): Generator<[string, Token]> {
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
