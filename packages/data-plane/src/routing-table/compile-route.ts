import { DEFAULT_METHODS } from '@gateway/shared/http/methods';
import type { SnapshotRoute, SnapshotVersion } from '@gateway/shared/snapshot/schema';
import { compileAffinity } from './compile-affinity.ts';
import { compileAnswer } from './compile-answer.ts';
import { compileAuth, readableAuth } from './compile-auth.ts';
import { compileCors } from './compile-cors.ts';
import { compileMirror } from './compile-mirror.ts';
import { compileRewrite } from './compile-rewrite.ts';
import { hashText } from './hash-text.ts';
import type {
  CompiledRoute,
  CompiledVersion,
  EnvironmentTable,
  RouteEntry,
  ServiceOf,
} from './routing-table.ts';
import { compiledOrUnusable, requireService } from './unusable.ts';

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
