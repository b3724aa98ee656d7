import { foldedName, HOP_BY_HOP_FIELDS } from '@gateway/shared/http/headers';
import { cacheByName } from '@gateway/http1/fields/name-cache';

/** Fields that must come once, each with its index among those found. */
export const SINGLE = {
  host: 0,
  authorization: 1,
  'x-api-key': 2,
  'x-forwarded-proto': 3,
  'x-forwarded-host': 4,
  traceparent: 5,
  'x-request-id': 6,
  'x-gateway-environment': 7,
  'x-gateway-version': 8,
  'idempotency-key': 9,
} as const;

/**
 * Never forwarded: hop-by-hop fields (RFC 9110 section 7.6.1), framing fields, which the gateway sets itself, and the
 * fields in which the gateway tells who the caller is.
 */
const DROPPED = new Set([
  ...HOP_BY_HOP_FIELDS,
  'proxy-authorization',
  'content-length',
  'expect',
  'host',
  'authorization',
  'x-api-key',
  'idempotency-key',
  'via',
  'traceparent',
  'tracestate',
  'forwarded',
  'x-real-ip',
  'x-request-id',
  // A CGI upstream would read it as the variable that names its own proxy (HTTP_PROXY).
  'proxy',
]);

/** The upstream reads these too, under exactly this name; an API key is forwarded unless it is the gateway's. */
const PASSED = new Set(['x-api-key', 'idempotency-key']);

const GATEWAY_PREFIX = 'x-gateway-';
const FORWARDED_PREFIX = 'x-forwarded-';

/** How a request field is handled, by its name. */
export interface InboundField {
  /** In lower case. */
  readonly name: string;
  /** Its index in `SINGLE`, if it must come once. */
  readonly single: number | undefined;
  /** Whether it is forwarded as it is. */
  readonly passed: boolean;
}

/** How a request field is handled, by its name as it is written. */
export const inboundField = cacheByName((rawName): InboundField => {
  const name = rawName.toLowerCase();
  const single = Object.entries(SINGLE).find(([one]) => one === name)?.[1];
  const passed = PASSED.has(name) || !isDropped(name);
  return { name, single, passed };
});

/** Covers every name that an upstream could read as a dropped one. */
function isDropped(name: string): boolean {
  const dashed = foldedName(name);
  return (
    DROPPED.has(dashed) || dashed.startsWith(GATEWAY_PREFIX) || dashed.startsWith(FORWARDED_PREFIX)
  );
}
