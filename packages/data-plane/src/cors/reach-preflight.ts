import { authorityOf, HTTP_TOKEN } from '@gateway/shared/http/headers';
import { normalHost, normalPath } from '@gateway/shared/http/normal-path';
import type { RequestHead } from '@gateway/http/message/request-head';
import { isProxyPath } from '../request/proxy-path.ts';
import { valueOf, type Reached, type ReachOptions } from '../request/reach-route.ts';
import type { CompiledCors } from '../routing-table/compile-cors.ts';
import type {
  CompiledRoute,
  EnvironmentTable,
  RoutingTable,
} from '../routing-table/routing-table.ts';
import type { Preflight } from '../request/preflight.ts';

export interface PreflightOptions extends ReachOptions {
  /** The environment of preflights to hosts that no route names: they carry neither a token nor the name of another. */
  readonly defaultEnvironment: string;
}

/**
 * What a preflight reaches that the gateway answers: the route of the actual request. undefined: the request is no
 * preflight; or a route that the actual request may reach does not exist, cannot be used, has no `cors`, or does not allow
 * the origin. All of these go on as any other OPTIONS request, so that nobody learns which it was.
 *
 * @param reached what the request reaches otherwise
 */
export function reachPreflight(
  { method, url }: Pick<RequestHead, 'method' | 'url'>,
  { inbound, target }: Reached,
  table: RoutingTable,
  options: PreflightOptions,
): Reached | undefined {
  const { origin } = inbound;
  if (method !== 'OPTIONS' || origin === undefined) return undefined;
  if (valueOf(inbound, 'access-control-request-method') === undefined) return undefined;
  const { hostEnvironment, path } = target;
  const environmentName = hostEnvironment ?? options.defaultEnvironment;
  const meant =
    hostEnvironment === undefined ? options.environmentOf(table, inbound) : inbound.environment;
  if (meant !== undefined && meant !== environmentName) return undefined;
  const environment = table.environments.get(environmentName);
  const headers = namesIn(valueOf(inbound, 'access-control-request-headers') ?? '');
  if (environment === undefined || headers === undefined) return undefined;
  const host = authorityOf(url) ?? inbound.host ?? '';
  // Of a host that nobody knows yet, another environment must not get the requests.
  const mayMatch = hostEnvironment !== undefined || options.complete();
  const names = isProxyPath(path)
    ? [target.routeName]
    : mayMatch && path.startsWith('/')
      ? routesBehind(environment, host, path, headers)
      : [];
  const [first] = names;
  const routes = names.map((name) => environment.routes.get(name));
  if (first === undefined || !routes.every((route) => allows(route, origin))) return undefined;
  const preflight: Preflight = { origin, headers, routes };
  // The way of the OPTIONS request itself may lead elsewhere.
  const way = target.way?.routeName === first ? target.way : undefined;
  return { inbound, target: { ...target, routeName: first, way, preflight }, isProxied: true };
}

function allows(
  route: CompiledRoute | undefined,
  origin: string,
): route is CompiledRoute & { readonly cors: CompiledCors } {
  return route?.cors?.match(origin) !== undefined;
}

/** The names of a list of headers in lower case; undefined: it is no such list. */
function namesIn(list: string): readonly string[] | undefined {
  const names = list
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  return names.every((name) => HTTP_TOKEN.test(name)) ? names : undefined;
}

/** Headers that a request may have without naming them in its preflight, and those that the browser sets itself. */
const UNNAMED = new Set(
  `accept accept-charset accept-encoding accept-language access-control-request-headers
  access-control-request-method connection content-language content-length content-type cookie date dnt expect host
  keep-alive origin range referer te trailer transfer-encoding upgrade user-agent via`.split(/\s+/),
);

/** Headers of a browser whose names begin so. */
const UNNAMED_PREFIX = /^(?:sec|proxy)-/;

/**
 * The routes that a request with these headers, whose values are not known, may reach by its host and path. None: there is
 * no such route, or there are too many.
 */
function routesBehind(
  { matches }: EnvironmentTable,
  host: string,
  path: string,
  headers: readonly string[],
): readonly string[] {
  const mayHave = (name: string) =>
    headers.includes(name) || UNNAMED.has(name) || UNNAMED_PREFIX.test(name);
  return matches.findAll(normalHost(host), normalPath(path), mayHave) ?? [];
}
