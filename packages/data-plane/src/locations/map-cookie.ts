import { callerPath, isAtOrBelow, type RouteAddresses } from './route-addresses.ts';

interface ReachedPath {
  /** Whether the path of the request is the caller's prefix: a cookie without a path would belong to the path above it. */
  readonly isAtPrefix: boolean;
  /** Whether the path names the route: the host is then that of other routes, and maybe of the console. */
  readonly isByName: boolean;
}

/**
 * Maps the path and the domain of a `Set-Cookie` field (RFC 6265 section 4.1). A cookie of the whole upstream becomes one
 * of the whole route. A domain that the upstream may set for itself is removed, so that the cookie belongs to the host of
 * the caller alone: as a domain, that host would give the cookie to all hosts below it as well.
 *
 * @param upstreamHosts the names that the upstream has for itself
 * @param reached how the request reached the route
 */
export function mapCookie(
  value: string,
  addresses: RouteAddresses,
  upstreamHosts: readonly string[],
  { isAtPrefix, isByName }: ReachedPath,
): string {
  const [pair = '', ...attributes] = value.split(';');
  // A browser takes it only with Path=/ and without a domain.
  if (/^\s*__Host-/i.test(pair)) return value;
  const { caller } = addresses;
  const mapped: string[] = [pair];
  let hasPath = false;
  for (const attribute of attributes) {
    const equals = attribute.indexOf('=');
    const kind = (equals === -1 ? attribute : attribute.slice(0, equals)).trim().toLowerCase();
    const text = equals === -1 ? '' : attribute.slice(equals + 1).trim();
    if (kind === 'domain' && isOwnDomain(text, upstreamHosts, caller.authority)) continue;
    const isPath = kind === 'path' && text.startsWith('/');
    // The last one counts, and one that is no path as if there were none.
    if (kind === 'path') hasPath = isPath;
    const path = isPath ? cookiePath(text, addresses, isByName) : text;
    mapped.push(path === text ? attribute : `${attribute.slice(0, equals + 1)}${path}`);
  }
  if (!hasPath && isAtPrefix && caller.prefix !== '') mapped.push(` Path=${caller.prefix}`);
  return mapped.join(';');
}

function cookiePath(
  path: string,
  { paths: [base = ''], caller }: RouteAddresses,
  isByName: boolean,
): string {
  const whole = caller.prefix || '/';
  const mapped = path === '/' && base === '' ? whole : callerPath(path, [base], caller);
  if (mapped !== undefined) return mapped;
  // A path above that of the service belongs to all of it.
  if (isAtOrBelow(base, path.endsWith('/') ? path.slice(0, -1) : path)) return whole;
  // As it is, it would lead to another route, or to the console.
  return isByName ? caller.prefix + path : path;
}

/** Whether a cookie with this domain is one that only the upstream may set (RFC 6265 section 5.1.3), not the caller's host. */
function isOwnDomain(domain: string, upstreamHosts: readonly string[], authority = ''): boolean {
  const name = domain.replace(/^\./, '').toLowerCase();
  if (name === '') return false;
  const isOwn = upstreamHosts.some((host) => isOfDomain(host, name));
  return isOwn && !isOfDomain(nameOf(authority), name);
}

function isOfDomain(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** A `Host` field without its port. */
export function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}
