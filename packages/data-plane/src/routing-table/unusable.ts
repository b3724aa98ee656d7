import { messageOf } from '@gateway/shared/errors/message-of';
import { MAX_REASON_CHARS, type UnreadableElement } from '@gateway/shared/snapshot/read-element';
import { readableAuth } from './compile-auth.ts';
import { withMirrorService } from './compile-mirror.ts';
import {
  isUsable,
  withWays,
  type CompiledRoute,
  type EnvironmentTable,
  type RefusedName,
  type RouteEntry,
  type ServiceOf,
  type Unusable,
  type UnusableRoute,
} from './routing-table.ts';

/** How long a caller of a route whose timeout cannot be read waits for the keys of its issuer, ms. */
const DEFAULT_TIMEOUT_MS = 30_000;

const SHARED_NAME = 'another route has the same name';

/** The key of an element in the list of what cannot be used. */
export function keyOf({ kind, id }: Pick<Unusable, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** Why compiling failed. The messages of the compiler hold no content of the configuration. */
export function reasonOf(error: unknown): string {
  return messageOf(error).slice(0, MAX_REASON_CHARS);
}

/** Who gets a name: a usable route if it alone claims the name, else nobody. */
export function assignName(
  name: string,
  claimants: readonly RouteEntry[],
): CompiledRoute | RefusedName | undefined {
  const [route, ...others] = claimants;
  if (route === undefined) return undefined;
  if (others.length === 0) return isUsable(route) ? route : { route, claimants };
  const { id, environment } = route;
  return { route: { ...withoutSource, id, name, environment, reason: SHARED_NAME }, claimants };
}

/** Why those who claim the name cannot be used. */
export function* refusalsOf({
  route: { name, reason },
  claimants,
}: RefusedName): Generator<Unusable> {
  for (const { id } of claimants) yield { kind: 'route', id, name, reason };
}

const withoutSource = {
  kind: 'route',
  auth: undefined,
  match: [],
  timeoutMs: DEFAULT_TIMEOUT_MS,
  serviceIds: [],
  compile: undefined,
} as const;

/** The route that this version of the program cannot read. */
export function unreadableRoute(
  { id, name = '', auth, match, reason }: UnreadableElement,
  environment: Pick<EnvironmentTable, 'name'>,
): UnusableRoute {
  return {
    ...withoutSource,
    id,
    name,
    environment: environment.name,
    auth: readableAuth(auth),
    match,
    reason,
  };
}

/** The route with the present services; it may become unusable, or usable again. */
export function withServices(route: RouteEntry, serviceOf: ServiceOf): RouteEntry {
  const compile = isUsable(route)
    ? (services: ServiceOf) => withCompiledServices(route, services)
    : route.compile;
  if (compile === undefined) return route;
  return compiledOrUnusable(compile, serviceOf, () => ({
    id: route.id,
    name: route.name,
    environment: route.environment,
    auth: route.auth,
    match: withWays(route).match,
    timeoutMs: isUsable(route) ? route.settings.timeout_ms : route.timeoutMs,
    serviceIds: serviceIdsOf(route),
  }));
}

/** The compiled route, or why there is none. */
export function compiledOrUnusable(
  compile: (serviceOf: ServiceOf) => CompiledRoute,
  serviceOf: ServiceOf,
  source: () => Omit<UnusableRoute, 'kind' | 'compile' | 'reason'>,
): RouteEntry {
  try {
    return compile(serviceOf);
  } catch (error) {
    return { kind: 'route', ...source(), compile, reason: reasonOf(error) };
  }
}

/** The services that the route names. */
export function serviceIdsOf(route: RouteEntry): readonly string[] {
  if (!isUsable(route)) return route.serviceIds;
  const ids = route.versions.map(({ service }) => service.id);
  return route.mirror === undefined ? ids : [...ids, route.mirror.serviceId];
}

function withCompiledServices(route: CompiledRoute, serviceOf: ServiceOf): CompiledRoute {
  const versions = route.versions.map((version) => {
    return { ...version, service: requireService(version.service.id, serviceOf) };
  });
  return { ...route, versions, mirror: withMirrorService(route.mirror, serviceOf) };
}

/** @throws Error if the service is missing or cannot be used */
export function requireService(id: string, serviceOf: ServiceOf) {
  const service = serviceOf(id);
  if (service !== undefined) return service;
  throw new Error(`its service ${id} is missing or cannot be used`);
}
