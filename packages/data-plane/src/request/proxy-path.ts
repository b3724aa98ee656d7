/** Proxied paths are `/v1/proxy/{route}` and everything below. */
export const PROXY_PREFIX = '/v1/proxy/';

/** The methods that the proxy path accepts: those of RFC 9110 section 9 except CONNECT and TRACE, and PATCH. */
export const PROXY_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export interface ProxyTarget {
  /** The route's name in the path; empty if there is none. */
  readonly routeName: string;
  /** The path after the name: empty, or starting with a slash. As sent, never decoded. */
  readonly subPath: string;
  /** The path without the query. */
  readonly path: string;
  /** The query including its question mark, or empty. */
  readonly query: string;
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

const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/**
 * The request target for the upstream: its base path, the sub-path and the query. It never starts with two slashes,
 * because an upstream could read the next segment as a host (RFC 3986 section 4.2); many read a backslash as a slash.
 */
export function upstreamPath(basePath: string, subPath: string, query: string): string {
  const second = basePath === '' ? subPath.charCodeAt(1) : 0;
  const isHostLike = second === SLASH || second === BACKSLASH;
  const path = basePath + (isHostLike ? subPath.replace(/^[/\\]+/, '/') : subPath);
  return (path === '' ? '/' : path) + query;
}

/** An upstream that decodes more often than this does not work behind any proxy. */
const MAX_DECODINGS = 3;

/** The refusal of a tab, CR or LF that is percent-encoded. A route may accept it; see `allow_encoded_control_characters`. */
export const ENCODED_CONTROL = 'must not contain an encoded control character';

/**
 * Why a sub-path may not be appended to an upstream's base path, or undefined if it may.
 *
 * A sub-path must not leave the base path, however the upstream parses it. So dot segments are refused
 * in plain text, percent-encoded once or several times, before `;` parameters, a query or a fragment,
 * between backslashes, with tabs and line breaks, which URL parsers remove, and in overlong UTF-8. Fragments, control
 * characters and invalid escapes are refused too (RFC 3986 sections 2.1, 3.3; RFC 9112 section 3.2.1).
 *
 * @returns `ENCODED_CONTROL` only if there is no other reason
 */
export function refuseSubPath(subPath: string): string | undefined {
  if (!/[%\\;#]|\/\.|[^!-~]/.test(subPath)) return undefined;
  if (subPath.includes('#')) return 'must not have a fragment';
  if (/%(?![0-9A-Fa-f]{2})/.test(subPath)) {
    return 'must have two hexadecimal digits after each percent sign';
  }
  if (/[\t\n\r]/.test(subPath)) return CONTROL;
  let text = subPath;
  let hasEncodedControl = false;
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings += 1) {
    // What an upstream sees that removes them (https://url.spec.whatwg.org/#concept-basic-url-parser).
    const visible = text.replace(/[\t\n\r]/g, '');
    if (visible !== text) hasEncodedControl = true;
    const reason = refuseDecoded(visible);
    if (reason !== undefined) return reason;
    const decoded = decodeOnce(visible);
    if (decoded === visible) return hasEncodedControl ? ENCODED_CONTROL : undefined;
    text = decoded;
  }
  return `must not be percent-encoded more than ${MAX_DECODINGS} times`;
}

const CONTROL = 'must not contain a control character';

function refuseDecoded(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- looks for control characters
  if (/[\u0000-\u001f\u007f]/.test(text)) return CONTROL;
  if (/[\u00c0\u00c1\u00f5-\u00ff]|\u00e0[\u0080-\u009f]|\u00f0[\u0080-\u008f]/.test(text)) {
    return 'must be well-formed UTF-8';
  }
  for (const segment of text.split(/[/\\]/)) {
    const name = segment.split(/[;?#]/, 1)[0];
    if (name === '.' || name === '..') return 'must not contain a dot segment';
  }
  return undefined;
}

/** Replaces each escape by one character with the value of its byte. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
