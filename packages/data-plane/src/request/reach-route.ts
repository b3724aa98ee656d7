import { authorityOf } from '@gateway/shared/http/headers';
import { normalHost, normalPath } from '@gateway/shared/http/normal-path';
import { eachField } from '@gateway/http/fields/header-fields';
import type { EnvironmentTable, RoutingTable } from '../routing-table/routing-table.ts';
import type { InboundHeaders } from './inbound-headers.ts';
import { isProxyPath, parseProxyTarget, splitTarget, type ProxyTarget } from './proxy-path.ts';

/** The name of the environment that a caller means on a host that no route names. */
export type EnvironmentOf = (table: RoutingTable, inbound: InboundHeaders) => string;

/** Where a request goes: to a route, or on to the control plane. */
export interface Reached {
  readonly target: ProxyTarget;
  /** Whether the data path answers it: the request names a route, or the host is one of routes. */
  readonly isProxied: boolean;
}

/**
 * Finds the route that a request names by its path, `/v1/proxy/{route}`, or else the one that its host, path and header
 * fields reach. It refuses nothing.
 *
 * @param url the target of the request, in origin-form or absolute-form
 */
export function reachRoute(
  url: string,
  inbound: InboundHeaders,
  table: RoutingTable,
  environmentOf: EnvironmentOf,
): Reached {
  const { path, query } = splitTarget(url);
  const isNamed = isProxyPath(path);
  if (table.matched.length === 0) return byName(path, query, undefined, isNamed);
  const host = normalHost(authorityOf(url) ?? inbound.host ?? '');
  const claimed = table.matched.find(({ matches }) => matches.claims(host));
  if (isNamed || !path.startsWith('/')) return byName(path, query, claimed?.name, isNamed);
  const searched = claimed ?? withoutHost(table, inbound, environmentOf);
  const routeName = searched?.matches.find(host, normalPath(path), (name) =>
    valueOf(inbound, name),
  );
  if (routeName === undefined && claimed === undefined)
    return byName(path, query, undefined, false);
  const target = {
    routeName: routeName ?? '',
    subPath: path,
    path,
    query,
    hostEnvironment: claimed?.name,
  };
  return { target, isProxied: true };
}

function byName(
  path: string,
  query: string,
  hostEnvironment: string | undefined,
  isProxied: boolean,
): Reached {
  return { target: parseProxyTarget(path, query, hostEnvironment), isProxied };
}

/** The environment of the caller, if it has ways without a host. */
function withoutHost(
  table: RoutingTable,
  inbound: InboundHeaders,
  environmentOf: EnvironmentOf,
): EnvironmentTable | undefined {
  if (!table.matched.some(({ matches }) => matches.hasEveryHost)) return undefined;
  return table.environments.get(environmentOf(table, inbound));
}

/** All values of a field, in order; undefined: the request does not have it. */
function valueOf({ raw }: InboundHeaders, name: string): string | undefined {
  let found: string | undefined;
  eachField(raw, (rawName, value) => {
    if (rawName.length !== name.length || rawName.toLowerCase() !== name) return;
    found = found === undefined ? value : `${found}, ${value}`;
  });
  return found;
}
