import { escapeBytes } from '../text/escape-bytes.ts';
import { callerPath, type RouteAddresses } from './route-addresses.ts';

const ABSOLUTE = /^(?:https?:)?[/\\]/i;
/** Scheme and authority, authority alone, or neither; then the path, and what follows it. */
const REFERENCE = /^(?:(https?:)?\/\/([^/?#]*))?([^?#]*)(.*)$/is;
/** What a URL parser reads in another way than it is written: backslashes, segments of dots, user information. */
const NEEDS_PARSER = /[\\@]|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * The reference by which the caller reaches what a reference of the upstream leads to (RFC 3986 section 4.1). It is
 * returned as it is if it leads elsewhere, or is relative to the path of the request.
 */
export function mapReference(reference: string, addresses: RouteAddresses): string {
  // URL parsers leave out tabs, and spaces at the ends.
  const text = reference.replaceAll('\t', '').trim();
  if (!ABSOLUTE.test(text)) return reference;
  const mapped = mapWritten(text, addresses) ?? mapParsed(text, addresses);
  return mapped === undefined || mapped === text ? reference : mapped;
}

/** Replaces the beginning and keeps the rest, each byte of it. undefined: it leads elsewhere, or a parser must read it. */
function mapWritten(text: string, addresses: RouteAddresses): string | undefined {
  const [, scheme, authority, path = '', rest = ''] = REFERENCE.exec(text) ?? [];
  if (NEEDS_PARSER.test(`${authority ?? ''}/${path}`) || (path !== '' && path[0] !== '/')) {
    return undefined;
  }
  const { caller } = addresses;
  if (authority === undefined) {
    const mapped = callerPath(path, addresses.paths, caller);
    return mapped === undefined ? undefined : asReference('', mapped, addresses) + rest;
  }
  const paths = pathsAt(scheme, authority, addresses);
  const mapped = paths && callerPath(path, paths, caller);
  if (mapped === undefined) return undefined;
  return asReference(scheme === undefined ? '//' : 'absolute', mapped, addresses) + rest;
}

/** What follows from a URL whose scheme is left out depends on who reads it. */
function pathsAt(
  scheme: string | undefined,
  authority: string,
  { caller, origins, origin }: RouteAddresses,
): readonly string[] | undefined {
  if (scheme !== undefined) return origins.get(originOf(scheme, authority));
  return (
    origins.get(originOf(origin.slice(0, origin.indexOf(':') + 1), authority)) ??
    origins.get(originOf(`${caller.scheme}:`, authority))
  );
}

function originOf(scheme: string, authority: string): string {
  return URL.parse(`${scheme}//${authority}`)?.origin ?? '';
}

function mapParsed(text: string, addresses: RouteAddresses): string | undefined {
  const url = URL.parse(escapeBytes(text, /[\x80-\xff]/g), addresses.origin);
  const paths = url === null ? undefined : addresses.origins.get(url.origin);
  if (url === null || paths === undefined) return undefined;
  const mapped = callerPath(url.pathname, paths, addresses.caller);
  if (mapped === undefined) return undefined;
  const user = url.username + (url.password === '' ? '' : `:${url.password}`);
  return asReference('absolute', mapped, addresses, user) + url.search + url.hash;
}

/** A path that begins with two slashes would be read as a host, so it is never written without one. */
function asReference(
  form: '' | '//' | 'absolute',
  path: string,
  { caller: { scheme, authority } }: RouteAddresses,
  user = '',
): string {
  const isHostLike = /^\/[/\\]/.test(path);
  if (authority === undefined) return isHostLike ? `/.${path}` : path;
  if (form === '' && !isHostLike) return path;
  const host = user === '' ? authority : `${user}@${authority}`;
  return form === '//' ? `//${host}${path}` : `${scheme}://${host}${path}`;
}
