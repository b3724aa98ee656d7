import {
  refuseOddSubPath,
  type SubPathRefusal,
} from '@gateway/shared/http/sub-path/refuse-sub-path';
import type { ReachedWay } from '../routing-table/match-layers.ts';
import type { Preflight } from './preflight.ts';

/** Proxied paths are `/v1/proxy/{route}` and everything below. */
export const PROXY_PREFIX = '/v1/proxy/';

export interface ProxyTarget {
  /** The name of the route, from the path or found by host and path; empty: the request reaches no route. */
  readonly routeName: string;
  /**
   * The path after the name, empty or starting with a slash; of a route that is found by host and path the whole path. As
   * sent, never decoded.
   */
  readonly subPath: string;
  /** The path without the query. */
  readonly path: string;
  /** The query including its question mark, or empty. */
  readonly query: string;
  /** The way by host and path that leads to the route; undefined: the path names the route, or there is none. */
  readonly way: ReachedWay | undefined;
  /** The environment whose routes name the host of the request; undefined: none does. */
  readonly hostEnvironment: string | undefined;
  /** Only of a preflight that the gateway answers. */
  readonly preflight?: Preflight;
}

/** Where a request goes at its upstream, if not as its caller says. */
export interface RewrittenTarget {
  /** Follows the path of the URL of the upstream. */
  readonly subPath: string;
  readonly query: string;
  /** What stands in `subPath` before the path that the caller knows; empty: nothing, or another path in its place. */
  readonly addedPrefix: string;
  /** undefined: that of the URL of the upstream. */
  readonly host: string | undefined;
}

export function isProxyPath(path: string): boolean {
  return path.startsWith(PROXY_PREFIX) || path === '/v1/proxy';
}

/** Splits a request target in origin-form or absolute-form (RFC 9112 section 3.2) into path and query. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  let rest = target;
  if (!rest.startsWith('/')) {
    const afterScheme = /^https?:\/\/[^/?#]*/i.exec(rest)?.[0];
    if (afterScheme === undefined) return { path: rest, query: '' };
    rest = rest.slice(afterScheme.length);
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  const mark = rest.indexOf('?');
  return mark === -1
    ? { path: rest, query: '' }
    : { path: rest.slice(0, mark), query: rest.slice(mark) };
}

/** Splits a path below `/v1/proxy/` into route name and sub-path; other paths have no route name. */
export function parseProxyTarget(
  path: string,
  query: string,
  hostEnvironment?: string,
): ProxyTarget {
  const rest = { path, query, way: undefined, hostEnvironment };
  if (!path.startsWith(PROXY_PREFIX)) return { routeName: '', subPath: '', ...rest };
  const slash = path.indexOf('/', PROXY_PREFIX.length);
  return slash === -1
    ? { routeName: path.slice(PROXY_PREFIX.length), subPath: '', ...rest }
    : { routeName: path.slice(PROXY_PREFIX.length, slash), subPath: path.slice(slash), ...rest };
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/**
 * The request target for the upstream: its base path, the sub-path and the query. It never starts with two slashes,
 * because an upstream could read the next segment as a host (RFC 3986 section 4.2); many read a backslash as a slash.
 */
export function upstreamPath(
  basePath: string,
  { subPath, query }: Pick<ProxyTarget, 'subPath' | 'query'>,
): string {
  const second = basePath === '' ? subPath.charCodeAt(1) : 0;
  const isHostLike = second === SLASH || second === BACKSLASH;
  const path = basePath + (isHostLike ? subPath.replace(/^[/\\]+/, '/') : subPath);
  return (path === '' ? '/' : path) + query;
}

/** As `refuseOddSubPath`. Most paths have no character on account of which one may be refused. */
export function refuseSubPath(subPath: string): SubPathRefusal | undefined {
  return /[%\\;#]|\/\.|[^!-~]/.test(subPath) ? refuseOddSubPath(subPath) : undefined;
}
