import { normalPath } from '@gateway/shared/http/normal-path';
import { PROXY_PREFIX, type ProxyTarget } from './proxy-path.ts';

/**
 * What stands before the path of the service in the URLs of a caller, in normal form and without a slash at its end: what
 * the route strips, or the path that names the route. Empty: the caller sees the paths of the service.
 *
 * @param stripPrefix the prefix that the route strips from paths that are found by host and path
 */
export function callerPrefix(
  { way, routeName }: Pick<ProxyTarget, 'way' | 'routeName'>,
  stripPrefix = '',
): string {
  return way === undefined ? PROXY_PREFIX + routeName : stripPrefix;
}

/** Whether the path of the request is the caller's prefix, in whatever way it is written, and not one below it. */
export function isAtCallerPrefix(
  { way, subPath }: Pick<ProxyTarget, 'way' | 'subPath'>,
  stripPrefix: string | undefined,
): boolean {
  if (way === undefined) return subPath === '';
  return stripPrefix !== undefined && afterPrefix(subPath, stripPrefix) === '';
}

/**
 * The variable `{path.rest}`: what follows the prefix by which the request reached its route, as sent, without the slash
 * at its start. Empty for an exact path.
 */
export function pathRest({ way, subPath }: Pick<ProxyTarget, 'way' | 'subPath'>): string {
  if (way === undefined) return subPath.slice(1);
  return way.prefix === undefined ? '' : (afterPrefix(subPath, way.prefix) ?? '').slice(1);
}

/**
 * What follows the first segments of a path, if their normal forms are those of the prefix; else undefined. Of
 * `/%61pi/./x` it is `/./x` after `/api`.
 *
 * @param path as sent
 * @param prefix in normal form
 */
export function afterPrefix(path: string, prefix: string): string | undefined {
  if (prefix === '/') return path;
  if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')) {
    return path.slice(prefix.length);
  }
  let end = 0;
  for (const expected of prefix.slice(1).split('/')) {
    let segment = '';
    // Empty segments and those of one dot are no part of the normal form.
    while (segment === '' && end < path.length) {
      const slash = path.indexOf('/', end + 1);
      const next = slash === -1 ? path.length : slash;
      segment = normalPath(path.slice(end, next)).slice(1);
      end = next;
    }
    if (segment !== expected) return undefined;
  }
  return path.slice(end);
}
