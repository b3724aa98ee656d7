import { cacheByName } from '@gateway/http/fields/name-cache';
import {
  foldedName,
  HEADER,
  HOP_BY_HOP_FIELDS,
  IDEMPOTENT_REPLAYED,
  UPSTREAM_NAMES,
} from '@gateway/shared/http/headers';

/**
 * The fields that the gateway never passes on as trailers, in requests and in responses, by what they decide (RFC 9110
 * section 6.5.1). A name that ends with an asterisk is a prefix. A field that comes after a body has escaped all that was
 * decided by the head, and some recipients add trailers to the fields of the head. The table in
 * docs/use/policies/trailers.md is the same.
 */
export const NOT_IN_TRAILERS = {
  framing: ['content-length', ...HOP_BY_HOP_FIELDS],
  routing: [
    ...['host', 'forwarded', 'via', 'cdn-loop', 'max-forwards', 'x-real-ip', 'proxy'],
    ...['x-forwarded-*', 'x-original-url', 'x-rewrite-url'],
    ...['x-http-method', 'x-http-method-override', 'x-method-override'],
  ],
  request: [
    ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'expect', 'prefer'],
    ...['range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
    ...['if-range', 'grpc-timeout'],
  ],
  authentication: [
    ...['authorization', 'proxy-authorization', 'www-authenticate', 'authentication-info'],
    ...['proxy-authentication-info', 'x-api-key', 'cookie', 'cookie2', 'set-cookie', 'set-cookie2'],
  ],
  browsers: [
    ...['origin', 'referer', 'access-control-*', 'sec-*', 'content-security-policy'],
    ...['strict-transport-security', 'clear-site-data', 'alt-svc'],
  ],
  response: [
    ...['age', 'cache-control', 'date', 'expires', 'link', 'location', 'pragma', 'refresh'],
    ...['retry-after', 'vary', 'warning'],
  ],
  content: [
    ...['content-disposition', 'content-encoding', 'content-language', 'content-location'],
    ...['content-range', 'content-type'],
  ],
  gateway: [
    ...[HEADER.requestId, 'x-gateway-*', 'x-ratelimit-*', 'idempotency-key', IDEMPOTENT_REPLAYED],
    ...['traceparent', 'tracestate'],
    ...Object.values(UPSTREAM_NAMES).map((name) => name.toLowerCase()),
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const LISTED = Object.values(NOT_IN_TRAILERS).flat();
const NAMES: ReadonlySet<string> = new Set(LISTED.map(foldedName));
const PREFIXES = LISTED.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

/** What a trailer is, by its name as it is written. */
export interface TrailerName {
  /** In lower case, with each run of dashes and underscores as one dash. */
  readonly folded: string;
  /** Whether it may pass, if neither the route nor the service says otherwise. */
  readonly passes: boolean;
}

/** Covers every name that a recipient could read as one of the table. */
export const trailerName = cacheByName((rawName): TrailerName => {
  const folded = foldedName(rawName);
  const isListed = NAMES.has(folded) || PREFIXES.some((prefix) => folded.startsWith(prefix));
  return { folded, passes: !isListed };
});
