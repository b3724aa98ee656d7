import { byName } from '@gateway/http1/fields/by-name';

/** Fields of which there must be no second line, each with its place among those found. */
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
 * Never sent on: hop-by-hop fields (RFC 9110 section 7.6.1), the framing, which the gateway does anew,
 * and the names that say who the gateway says the caller is.
 */
const DROPPED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
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
  // A CGI upstream would take it for the variable that names its own proxy.
  'proxy',
]);

/** Mean something to the upstream as well, under just this name; an API key unless it is the gateway's. */
const PASSED = new Set(['x-api-key', 'idempotency-key']);

const GATEWAY_PREFIX = 'x-gateway-';
const FORWARDED_PREFIX = 'x-forwarded-';

/** What becomes of a field of a request by its name. */
export interface InboundField {
  /** In lower case. */
  readonly name: string;
  /** Its place, where it must stand alone. */
  readonly single: number | undefined;
  /** Whether it goes on to the upstream as it stands. */
  readonly passed: boolean;
}

/** What becomes of a field, by its name as it was written. */
export const inboundField = byName((rawName): InboundField => {
  const name = rawName.toLowerCase();
  const single = Object.entries(SINGLE).find(([one]) => one === name)?.[1];
  const passed = PASSED.has(name) || !isDropped(name);
  return { name, single, passed };
});

/** A name with underscores counts as the one with dashes, as CGI and WSGI upstreams cannot tell them apart. */
function isDropped(name: string): boolean {
  const dashed = name.replaceAll('_', '-');
  return (
    DROPPED.has(dashed) || dashed.startsWith(GATEWAY_PREFIX) || dashed.startsWith(FORWARDED_PREFIX)
  );
}
