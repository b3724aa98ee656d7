/** The path of the data path: `/v1/proxy/{route}` and everything below it. */
export const PROXY_PREFIX = '/v1/proxy/';

/** The methods that the proxy path takes: all of RFC 9110 section 9 and PATCH, but CONNECT and TRACE. */
export const PROXY_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export interface ProxyTarget {
  /** The route's name as the path gives it; empty where it gives none. */
  readonly routeName: string;
  /** What follows the name: empty, or a path that begins with a slash. As sent, never decoded. */
  readonly subPath: string;
  /** The path without the query. */
  readonly path: string;
  /** The query with its question mark, or empty. */
  readonly query: string;
}

/** Takes a request target apart (RFC 9112 section 3.2: origin-form, or absolute-form). */
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

/** The route and the rest that a path below `/v1/proxy/` names; any other path names no route. */
export function parseProxyTarget(path: string, query: string): ProxyTarget {
  if (!path.startsWith(PROXY_PREFIX)) return { routeName: '', subPath: '', path, query };
  const slash = path.indexOf('/', PROXY_PREFIX.length);
  return slash === -1
    ? { routeName: path.slice(PROXY_PREFIX.length), subPath: '', path, query }
    : {
        routeName: path.slice(PROXY_PREFIX.length, slash),
        subPath: path.slice(slash),
        path,
        query,
      };
}

/** The path to ask the upstream for: its base, the sub-path and the query. */
export function upstreamPath(basePath: string, subPath: string, query: string): string {
  const path = basePath + subPath;
  return (path === '' ? '/' : path) + query;
}

/** Upstreams that decode more often than this would be broken for every proxy in front of them. */
const MAX_DECODINGS = 3;

/**
 * Why a sub-path may not be appended to an upstream's base, or undefined where it may.
 *
 * It must not be able to leave the base, whichever way an upstream reads it: dot segments are refused
 * plain, percent-encoded once or several times, before `;` parameters, a query or a fragment, between
 * backslashes, and in overlong UTF-8. So are fragments, control characters and escapes that are none
 * (RFC 3986 sections 2.1, 3.3; RFC 9112 section 3.2.1).
 */
export function refuseSubPath(subPath: string): string | undefined {
  if (!/[%\\;#]|\/\.|[^!-~]/.test(subPath)) return undefined;
  if (subPath.includes('#')) return 'holds a fragment';
  if (/%(?![0-9A-Fa-f]{2})/.test(subPath)) return 'holds a percent sign that begins no escape';
  let text = subPath;
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings += 1) {
    const reason = refuseDecoded(text);
    if (reason !== undefined) return reason;
    const decoded = decodeOnce(text);
    if (decoded === text) return undefined;
    text = decoded;
  }
  return 'is percent-encoded too many times';
}

function refuseDecoded(text: string): string | undefined {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'holds a control character';
  if (/[\u00c0\u00c1\u00f5-\u00ff]|\u00e0[\u0080-\u009f]|\u00f0[\u0080-\u008f]/.test(text)) {
    return 'is not well-formed UTF-8';
  }
  for (const segment of text.split(/[/\\]/)) {
    const name = segment.split(/[;?#]/, 1)[0];
    if (name === '.' || name === '..') return 'holds a dot segment';
  }
  return undefined;
}

/** Every escape as the one byte that it stands for, as a character of the same number. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
