/** What the normal form changes: an escape, an empty segment, a segment of one dot. */
const NOT_NORMAL = /%|\/\/|\/\.(?:\/|$)/;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;
/** RFC 3986 section 2.3. */
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * The form in which a path is compared: escapes of unreserved characters decoded and the others in upper case (RFC 3986
 * section 6.2.2), without empty segments and segments of one dot. An escaped slash is not one: it stays in its segment.
 * `..` stays, because a request with it is refused.
 *
 * @param path without the query; starts with a slash
 */
export function normalPath(path: string): string {
  if (!NOT_NORMAL.test(path)) return path;
  const decoded = path.replaceAll(ESCAPE, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
  const segments = decoded.split('/');
  const last = segments.at(-1);
  const kept = segments.filter((segment) => segment !== '' && segment !== '.');
  const ending = kept.length > 0 && (last === '' || last === '.') ? '/' : '';
  return `/${kept.join('/')}${ending}`;
}

/**
 * The form in which a host is compared: in lower case, without the port and a trailing dot.
 *
 * @param field a `Host` field or an authority without user info
 */
export function normalHost(field: string): string {
  const end = field.endsWith(']') ? -1 : field.lastIndexOf(':');
  const host = (end === -1 ? field : field.slice(0, end)).toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}
