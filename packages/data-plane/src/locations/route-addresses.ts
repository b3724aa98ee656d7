import type { CompiledUpstream } from '../routing-table/routing-table.ts';

/** How the caller reached the route. */
export interface CallerAddress {
  readonly scheme: 'http' | 'https';
  /** Host, and port unless it is the scheme's default; undefined: the caller named no host. */
  readonly authority: string | undefined;
  readonly prefix: string;
}

/** An address of the service. */
export type ServiceAddress = Pick<CompiledUpstream, 'origin' | 'host' | 'basePath'>;

/** What an address that an upstream wrote may begin with, and what the caller sees in its place. */
export interface RouteAddresses {
  readonly caller: CallerAddress;
  /** That of the upstream that answers, against which its references are resolved. */
  readonly origin: string;
  /** The paths that lead to the service where a reference names no host. That of the upstream that answers comes first. */
  readonly paths: readonly string[];
  /** Of each origin that is the service's, in the form of URL.origin: the paths that lead to the service. */
  readonly origins: ReadonlyMap<string, readonly string[]>;
}

/**
 * Collects what counts as an address of the service: the URLs of its upstreams; the same hosts with the scheme of the
 * caller, because the upstream learns that scheme from `X-Forwarded-Proto`; and the caller's own host, which it learns from
 * `X-Forwarded-Host`. Never `https` where nobody speaks it: that would undo a redirect to TLS, and so repeat it forever.
 *
 * @param upstreams those of the service, the one that answers first
 */
export function routeAddresses(
  caller: CallerAddress,
  upstreams: readonly ServiceAddress[],
): RouteAddresses {
  const [answering = NONE] = upstreams;
  const { authority } = caller;
  const origins = new Map<string, string[]>();
  const add = (scheme: string, host: string, basePath: string) => {
    const origin = URL.parse(`${scheme}//${host}`)?.origin;
    if (origin === undefined) return;
    const paths = origins.get(origin);
    if (paths === undefined) origins.set(origin, [basePath]);
    else if (!paths.includes(basePath)) paths.push(basePath);
  };
  for (const { origin, host, basePath } of upstreams) {
    // A host that is sent on is that of the caller.
    if (host === authority) continue;
    add(schemeOf(origin), host, basePath);
    add(`${caller.scheme}:`, host, basePath);
  }
  if (authority !== undefined) {
    add(`${caller.scheme}:`, authority, answering.basePath);
    if (schemeOf(answering.origin) === 'http:') add('http:', authority, answering.basePath);
  }
  return {
    caller,
    origin: answering.origin,
    paths: origins.get(answering.origin) ?? [answering.basePath],
    origins,
  };
}

const NONE: ServiceAddress = { origin: '', host: '', basePath: '' };

function schemeOf(origin: string): string {
  return origin.slice(0, origin.indexOf(':') + 1);
}

/** Whether a path is this one, or below it. Neither ends with a slash, unless it is a path of the upstream. */
export function isAtOrBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}

/**
 * The path by which the caller reaches a path of the upstream; undefined if the route does not lead there. What begins with
 * the caller's prefix was built from `X-Forwarded-Prefix`: with the path of the service behind the prefix, or without it.
 * But if the path of the service is the longer of two that a path begins with, that one is meant.
 *
 * @param bases the paths that lead to the service
 */
export function callerPath(
  path: string,
  bases: readonly string[],
  { prefix }: Pick<CallerAddress, 'prefix'>,
): string | undefined {
  const base = longestAbove(path, bases);
  const isPrefixed = prefix !== '' && isAtOrBelow(path, prefix);
  if (isPrefixed && prefix.length >= (base?.length ?? 0)) {
    const rest = path.slice(prefix.length);
    return prefix + rest.slice(longestAbove(rest, bases)?.length);
  }
  return base === undefined ? undefined : prefix + path.slice(base.length) || '/';
}

function longestAbove(path: string, bases: readonly string[]): string | undefined {
  let longest: string | undefined;
  for (const base of bases) {
    if (isAtOrBelow(path, base) && base.length >= (longest?.length ?? 0)) longest = base;
  }
  return longest;
}
