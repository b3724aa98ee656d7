/** The methods that a route without a list accepts: those of RFC 9110 except CONNECT and TRACE, and PATCH. */
export const DEFAULT_METHODS: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
];

/** The longest method that a request may have. */
export const MAX_METHOD_CHARS = 32;

/** A token of RFC 9110 section 5.6.2, as a method is one (section 9.1). Methods are case-sensitive. */
export const METHOD_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/;

/**
 * No route accepts these, in any case, because some upstreams ignore case: CONNECT asks for a tunnel, TRACE returns
 * credentials to its caller (RFC 9110 sections 9.3.6 and 9.3.8), PRI begins an HTTP/2 connection (RFC 9113 section 3.4),
 * and `*` stands for all methods (RFC 9110 section 18.2).
 */
const NEVER_FORWARDED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'PRI', '*']);

interface MethodProperties {
  readonly safe: boolean;
  readonly idempotent: boolean;
}

const SAFE: MethodProperties = { safe: true, idempotent: true };
const IDEMPOTENT: MethodProperties = { safe: false, idempotent: true };
const NEITHER: MethodProperties = { safe: false, idempotent: false };

/**
 * The HTTP Method Registry (https://www.iana.org/assignments/http-methods), which says of each method whether it is safe
 * and idempotent (RFC 9110 section 9.2). A method that is not registered is neither.
 */
export const REGISTERED_METHODS: ReadonlyMap<string, MethodProperties> = new Map([
  ['ACL', IDEMPOTENT],
  ['BASELINE-CONTROL', IDEMPOTENT],
  ['BIND', IDEMPOTENT],
  ['CHECKIN', IDEMPOTENT],
  ['CHECKOUT', IDEMPOTENT],
  ['CONNECT', NEITHER],
  ['COPY', IDEMPOTENT],
  ['DELETE', IDEMPOTENT],
  ['GET', SAFE],
  ['HEAD', SAFE],
  ['LABEL', IDEMPOTENT],
  ['LINK', IDEMPOTENT],
  ['LOCK', NEITHER],
  ['MERGE', IDEMPOTENT],
  ['MKACTIVITY', IDEMPOTENT],
  ['MKCALENDAR', IDEMPOTENT],
  ['MKCOL', IDEMPOTENT],
  ['MKREDIRECTREF', IDEMPOTENT],
  ['MKWORKSPACE', IDEMPOTENT],
  ['MOVE', IDEMPOTENT],
  ['OPTIONS', SAFE],
  ['ORDERPATCH', IDEMPOTENT],
  ['PATCH', NEITHER],
  ['POST', NEITHER],
  ['PRI', SAFE],
  ['PROPFIND', SAFE],
  ['PROPPATCH', IDEMPOTENT],
  ['PUT', IDEMPOTENT],
  ['QUERY', SAFE],
  ['REBIND', IDEMPOTENT],
  ['REPORT', SAFE],
  ['SEARCH', SAFE],
  ['TRACE', SAFE],
  ['UNBIND', IDEMPOTENT],
  ['UNCHECKOUT', IDEMPOTENT],
  ['UNLINK', IDEMPOTENT],
  ['UNLOCK', IDEMPOTENT],
  ['UPDATE', IDEMPOTENT],
  ['UPDATEREDIRECTREF', IDEMPOTENT],
  ['VERSION-CONTROL', IDEMPOTENT],
  ['*', NEITHER],
]);

/** Whether a route may list this token as a method. */
export function isForwardable(method: string): boolean {
  return !NEVER_FORWARDED.has(method) && !NEVER_FORWARDED.has(method.toUpperCase());
}

/** Whether running a request with this method twice has the same effect as running it once. */
export function isIdempotent(method: string): boolean {
  return REGISTERED_METHODS.get(method)?.idempotent === true;
}
