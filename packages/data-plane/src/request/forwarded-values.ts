import { isHostField } from '@gateway/shared/http/headers';

/* What a trusted proxy says about its caller. Each proxy on the way may have added an element: the first is the outermost. */

/** Some proxies say `ws` and `wss` of a WebSocket. */
const SCHEME = /^(?:https?|wss?)$/i;
const PORT = /^0*([1-9]\d{0,4})$/;
/** Segments without any that a URL parser leaves out, and without what would end the path of a cookie or a quoted address. */
const PREFIX = /^(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[A-Za-z0-9\-._~!$&()*+=:@%]+)+\/?$/i;
const MAX_PREFIX_CHARS = 1024;

/** The first valid element of `X-Forwarded-Proto`. */
export function forwardedScheme(list: string | undefined): string | undefined {
  return firstValid(list, (element) => SCHEME.test(element));
}

/** The first valid element of `X-Forwarded-Host`. */
export function forwardedHost(list: string | undefined): string | undefined {
  return firstValid(list, (element) => isHostField(element) && isPortOrNone(portOf(element)));
}

/** The first valid element of `X-Forwarded-Port`. */
export function forwardedPort(list: string | undefined): string | undefined {
  const element = firstValid(list, (port) => isPortOrNone(port) && port !== '');
  return element && PORT.exec(element)?.[1];
}

/** All elements of `X-Forwarded-Prefix`, one after the other; empty if one of them is no path. */
export function forwardedPrefix(list: string | undefined): string {
  if (list === undefined || list.length > MAX_PREFIX_CHARS) return '';
  let prefix = '';
  for (const element of list.split(',')) {
    const path = element.trim();
    if (path === '' || path === '/') continue;
    if (!PREFIX.test(path)) return '';
    prefix += path.endsWith('/') ? path.slice(0, -1) : path;
  }
  return prefix;
}

/** The port of a `Host` field; empty: it has none. */
export function portOf(host: string): string {
  const colon = host.lastIndexOf(':');
  return colon === -1 || host.endsWith(']') ? '' : host.slice(colon + 1);
}

function isPortOrNone(port: string): boolean {
  return port === '' || Number(PORT.exec(port)?.[1] ?? 65_536) < 65_536;
}

function firstValid(
  list: string | undefined,
  isValid: (element: string) => boolean,
): string | undefined {
  if (list === undefined) return undefined;
  if (isValid(list)) return list;
  return list
    .split(',')
    .map((element) => element.trim())
    .find(isValid);
}
