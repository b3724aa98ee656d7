import { isReserved } from '@gateway/shared/definitions/route-match';
import { authorityOf } from '@gateway/shared/http/headers';
import { normalHost, normalPath } from '@gateway/shared/http/normal-path';
import { eachField } from '@gateway/http/fields/header-fields';
import type { EnvironmentTable, RoutingTable } from '../routing-table/routing-table.ts';
import type { RequestHead } from '@gateway/http/message/request-head';
import { inboundHeaders, type InboundHeaders } from './inbound-headers.ts';
import { isProxyPath, parseProxyTarget, splitTarget, type ProxyTarget } from './proxy-path.ts';

export interface ReachOptions {
  /** The name of the environment that a caller means on a host that no route names. */
  readonly environmentOf: (table: RoutingTable, inbound: InboundHeaders) => string;
  /** Whether the configuration of every environment is loaded. Before, nobody knows which hosts are those of routes. */
  readonly complete: () => boolean;
}

/** Where a request goes: to a route, or on to the control plane. */
export interface Reached {
  readonly inbound: InboundHeaders;
  readonly target: ProxyTarget;
  /** Whether the data path answers it: the request names a route, or the host is one of routes. */
  readonly isProxied: boolean;
}

/**
 * Finds the route that a request names by its path, `/v1/proxy/{route}`, or else the one that its host, path and header
 * fields reach. It refuses nothing. While the configuration is not complete, the data path answers what might be for a
 * route.
 */
export function reachRoute(
  { url, fields, common }: Pick<RequestHead, 'url' | 'fields' | 'common'>,
  table: RoutingTable,
  { environmentOf, complete }: ReachOptions,
): Reached {
  const inbound = inboundHeaders(fields, common);
  const { path, query } = splitTarget(url);
  const isNamed = isProxyPath(path);
  if (isNamed && table.matched.length === 0) {
    return { inbound, target: parseProxyTarget(path, query), isProxied: true };
  }
  const host = normalHost(authorityOf(url) ?? inbound.host ?? '');
  const claimed = table.matched.find(({ matches }) => matches.claims(host));
  const hostEnvironment = claimed?.name;
  if (isNamed) {
    return { inbound, target: parseProxyTarget(path, query, hostEnvironment), isProxied: true };
  }
  // Of a host that nobody knows yet, another environment must not get the requests.
  const known = claimed === undefined && complete();
  const environment = known ? withoutHost(table, inbound, environmentOf) : claimed;
  // `OPTIONS *` asks about the server and has no path (RFC 9110 section 9.3.7); no way takes it.
  const found = path.startsWith('/')
    ? environment?.matches.find(host, normalPath(path), (name) => valueOf(inbound, name))
    : undefined;
  const mayBeOfRoute = () => !complete() && !isReserved(path);
  return {
    inbound,
    target: {
      routeName: found?.routeName ?? '',
      subPath: path,
      path,
      query,
      way: found,
      hostEnvironment,
    },
    isProxied: found !== undefined || claimed !== undefined || mayBeOfRoute(),
  };
}

/** The environment of the caller, if it has ways without a host. */
function withoutHost(
  table: RoutingTable,
  inbound: InboundHeaders,
  environmentOf: ReachOptions['environmentOf'],
): EnvironmentTable | undefined {
  if (!table.matched.some(({ matches }) => matches.hasEveryHost)) return undefined;
  return table.environments.get(environmentOf(table, inbound));
}

/** All values of a field, in order; undefined: the request does not have it. */
export function valueOf({ raw }: InboundHeaders, name: string): string | undefined {
  let found: string | undefined;
  eachField(raw, (rawName, value) => {
    if (rawName.length !== name.length || rawName.toLowerCase() !== name) return;
    found = found === undefined ? value : `${found}, ${value}`;
  });
  return found;
}

/**
 * Whether a request leaves HTTP: a WebSocket handshake (RFC 6455 section 4.1) on a path of the proxy, without a body. Any
 * other upgrade is ignored (RFC 9110 section 7.8). Every CONNECT counts too, because its caller expects a tunnel: a plain
 * one, and one for another path or protocol, is refused.
 */
export function leavesHttp(head: RequestHead, isProxied: boolean): boolean {
  const { method, upgrade, framing } = head;
  // RFC 8441: any 2xx opens the tunnel.
  const isExtendedConnect = head.httpVersion === '2.0' && upgrade !== undefined;
  if (method === 'CONNECT' || isExtendedConnect) return true;
  return isProxied && upgrade === 'websocket' && method === 'GET' && framing.kind === 'none';
}
