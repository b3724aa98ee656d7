/** The names of the product's own headers, in lower case as in node:http. */
export const HEADER = {
  requestId: 'x-request-id',
  latency: 'x-gateway-latency',
  rateLimitLimit: 'x-ratelimit-limit',
  rateLimitRemaining: 'x-ratelimit-remaining',
  rateLimitReset: 'x-ratelimit-reset',
  gatewayError: 'x-gateway-error',
  environment: 'x-gateway-environment',
  /** Says why a write with `Prefer: wait` returned before all data planes served it. */
  gatewayWait: 'x-gateway-wait',
  /** Sent to upstreams only: the subject of the caller's JWT. */
  subject: 'x-gateway-subject',
  /** Sent to upstreams only, with a copy of a request: the id of the request. */
  mirror: 'x-gateway-mirror',
} as const;

/**
 * The fields of an upstream's response whose names the gateway uses itself, in lower case, and the names under which they
 * go on to the caller.
 */
export const UPSTREAM_NAMES: Readonly<Record<string, string>> = {
  [HEADER.requestId]: 'X-Upstream-Request-Id',
  [HEADER.rateLimitLimit]: 'X-Upstream-RateLimit-Limit',
  [HEADER.rateLimitRemaining]: 'X-Upstream-RateLimit-Remaining',
  [HEADER.rateLimitReset]: 'X-Upstream-RateLimit-Reset',
};

/**
 * Fields of one connection, which are never forwarded (RFC 9110 section 7.6.1), in lower case. `Persistent-Auth` and
 * `Proxy-Support` speak of the authentication of a connection (RFC 4559).
 */
export const HOP_BY_HOP_FIELDS: readonly string[] = [
  'connection',
  'http2-settings',
  'keep-alive',
  'persistent-auth',
  'proxy-authenticate',
  'proxy-connection',
  'proxy-support',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * The name in lower case, with each run of dashes and underscores as one dash. Some upstreams read names that are equal
 * in this form as the same field (CGI and WSGI fold `_` and `-`).
 */
export function foldedName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]+/g, '-');
}

/** A field name or a method (RFC 9110 sections 5.1, 5.6.2 and 9.1). */
export const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Marks the stored response to a request with an idempotency key that was used before. The name is that of Stripe's API.
 * An upstream may send it too, so it is not one of the gateway's own fields.
 */
export const IDEMPOTENT_REPLAYED = 'idempotent-replayed' as const;

/** The `WWW-Authenticate` field of a 401 (RFC 6750 section 3). */
export const BEARER_CHALLENGE = 'Bearer';

/** The `WWW-Authenticate` field if the token lacks one of these scopes (RFC 6750 section 3.1). */
export function insufficientScopeChallenge(scopes: readonly string[]): string {
  return `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`;
}

/** The `WWW-Authenticate` field for a rejected JWT (RFC 6750 section 3.1). */
export const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

/**
 * The `WWW-Authenticate` field for clients that send credentials only when they are asked for `Basic` (RFC 7617), such as
 * git and Java. It never stands alone.
 */
export const BASIC_CHALLENGE = 'Basic realm="gateway"';

const BEARER = /^bearer +([^\s,]+) *$/i;
const USUAL_SCHEME = 'Bearer ';
const NOT_IN_CREDENTIAL = /[\s,]/;

/** The credential of an `Authorization: Bearer` field (RFC 6750 section 2.1), or undefined. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  // The usual form. The regular expression below, for all other forms, allocates several objects.
  if (authorization.startsWith(USUAL_SCHEME) && authorization.length > USUAL_SCHEME.length) {
    const credential = authorization.slice(USUAL_SCHEME.length);
    if (!NOT_IN_CREDENTIAL.test(credential)) return credential;
  }
  return BEARER.exec(authorization)?.[1];
}

const BASIC = /^basic[ \t]+([A-Za-z0-9+/=_-]+)[ \t]*$/i;

/** The user name and password of an `Authorization: Basic` field, with a colon between them (RFC 7617), or undefined. */
export function basicCredential(authorization: string): string | undefined {
  const encoded = BASIC.exec(authorization)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1');
}

const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/**
 * The authority of a request target in absolute form, user info included; undefined for any other form (RFC 9112 section
 * 3.2.2).
 */
export function authorityOf(target: string): string | undefined {
  return target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** Whether a `Host` field is a uri-host with an optional port (RFC 9110 section 7.2), without user info or path. */
export function isHostField(text: string): boolean {
  return HOST.test(text);
}
