/** The names of the product's own headers, in lower case as node:http gives and takes them. */
export const HEADER = {
  requestId: 'x-request-id',
  latency: 'x-gateway-latency',
  rateLimitLimit: 'x-ratelimit-limit',
  rateLimitRemaining: 'x-ratelimit-remaining',
  rateLimitReset: 'x-ratelimit-reset',
  gatewayError: 'x-gateway-error',
  environment: 'x-gateway-environment',
  /** Of a write that was asked to wait for the data planes and did not see all of them follow: why. */
  gatewayWait: 'x-gateway-wait',
  /** To upstreams alone: the subject of the caller's JWT. */
  subject: 'x-gateway-subject',
} as const;

/** What the name of a field is: a token (RFC 9110 sections 5.1 and 5.6.2). */
export const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** RFC 6750 section 3: what a 401 tells about how to authenticate. */
export const BEARER_CHALLENGE = 'Bearer';

/** RFC 6750 section 3.1: the same to a caller whose JWT opens nothing. */
export const INVALID_TOKEN_CHALLENGE = 'Bearer error="invalid_token"';

const BEARER = /^bearer +([^\s,]+) *$/i;
const USUAL_SCHEME = 'Bearer ';
const NOT_IN_CREDENTIAL = /[\s,]/;

/** The credential of an `Authorization: Bearer` field (RFC 6750 section 2.1), or undefined. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  // As nearly all write it; what the other expression finds takes several objects.
  if (authorization.startsWith(USUAL_SCHEME) && authorization.length > USUAL_SCHEME.length) {
    const credential = authorization.slice(USUAL_SCHEME.length);
    if (!NOT_IN_CREDENTIAL.test(credential)) return credential;
  }
  return BEARER.exec(authorization)?.[1];
}
