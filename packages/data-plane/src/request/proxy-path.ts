import { decodeToTheEnd, type PathBytes } from './path-bytes.ts';
import { readPath } from './path-readings.ts';
import { FOUND } from './segment-states.ts';
import type { ReachedWay } from '../routing-table/route-matches.ts';

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
export function upstreamPath(basePath: string, subPath: string, query: string): string {
  const second = basePath === '' ? subPath.charCodeAt(1) : 0;
  const isHostLike = second === SLASH || second === BACKSLASH;
  const path = basePath + (isHostLike ? subPath.replace(/^[/\\]+/, '/') : subPath);
  return (path === '' ? '/' : path) + query;
}

/** Why a sub-path is refused. docs/use/policies/paths-and-methods.md has an example of each. */
export const SUB_PATH_REFUSALS = {
  fragment: 'must not have a fragment',
  escape: 'must have two hexadecimal digits after each percent sign',
  control: 'must not contain a control character',
  /** The only one that a route may lift; see `allow_encoded_control_characters`. It stands for tab, CR and LF. */
  encodedControl: 'must not contain an encoded control character',
  parent: 'must not contain a segment that a server could read as ..',
  parameter: 'must not have a parameter after a segment of dots',
  host: 'must not have an empty segment after a leading segment of one dot',
} as const;
export type SubPathRefusal = keyof typeof SUB_PATH_REFUSALS;

/**
 * Why a sub-path may not be appended to an upstream's base path, or undefined if it may.
 *
 * A sub-path must not leave the base path, however the upstream parses it. So a segment is refused if it is `..` in plain
 * text, percent-encoded once or several times, before `;` parameters, a query, a fragment or a NUL, between backslashes,
 * with spaces, which Windows removes, with tabs and line breaks, which URL parsers remove, in overlong UTF-8, with bytes
 * that are not UTF-8, which some decoders drop, or in characters that stand for dots and slashes. A segment of one dot
 * never leaves the base path. Fragments, control characters and invalid escapes are refused too (RFC 3986 sections 2.1,
 * 3.3; RFC 9112 section 3.2.1).
 *
 * It runs before authentication, so its work grows with the length of the path alone.
 *
 * @returns `encodedControl` only if there is no other reason
 */
export function refuseSubPath(subPath: string): SubPathRefusal | undefined {
  if (!/[%\\;#]|\/\.|[^!-~]/.test(subPath)) return undefined;
  if (subPath.includes('#')) return 'fragment';
  if (/%(?![0-9A-Fa-f]{2})/.test(subPath)) return 'escape';
  if (/[\t\n\r]/.test(subPath)) return 'control';
  const path = decodeToTheEnd(subPath);
  const controls = controlsIn(path);
  if (controls === 'control') return controls;
  const { refusals, control } = readPath(path);
  if (control) return 'control';
  if ((refusals & FOUND.parameter) !== 0) return 'parameter';
  if ((refusals & FOUND.parent) !== 0) return 'parent';
  return (refusals & FOUND.host) === 0 ? controls : 'host';
}

/** `encodedControl` stands for those that a route may allow. */
function controlsIn({ bytes, length }: PathBytes): 'control' | 'encodedControl' | undefined {
  let controls: 'encodedControl' | undefined;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x1f && byte !== 0x7f) continue;
    if (byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return 'control';
    controls = 'encodedControl';
  }
  return controls;
}
