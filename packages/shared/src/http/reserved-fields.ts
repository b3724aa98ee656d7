import {
  foldedName,
  HEADER,
  HOP_BY_HOP_FIELDS,
  IDEMPOTENT_REPLAYED,
  UPSTREAM_NAMES,
} from './headers.ts';

/*
 * Header fields that no configuration sets, adds or removes: those that frame a message or belong to a connection, that
 * authenticate, and that carry what the gateway promises.
 */

const OF_BOTH = [
  ...HOP_BY_HOP_FIELDS,
  ...Object.values(HEADER),
  'content-length',
  'host',
  'expect',
  'max-forwards',
  'forwarded',
  'via',
  'cdn-loop',
  'traceparent',
  'tracestate',
  'idempotency-key',
  IDEMPOTENT_REPLAYED,
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  // A CGI upstream would read it as the variable that names its own proxy (HTTP_PROXY).
  'proxy',
];

const OF_REQUESTS: ReadonlySet<string> = new Set([...OF_BOTH, 'grpc-timeout']);
const OF_RESPONSES: ReadonlySet<string> = new Set([
  ...OF_BOTH,
  ...Object.values(UPSTREAM_NAMES).map((name) => name.toLowerCase()),
  'www-authenticate',
]);

const PREFIXES = ['x-gateway-', 'x-ratelimit-', 'x-forwarded-', 'sec-websocket-'];

/** Whether the name, or another one that an upstream could read as it, is a reserved field of requests or responses. */
export function isReservedField(name: string, of: 'request' | 'response'): boolean {
  const folded = foldedName(name);
  const names = of === 'request' ? OF_REQUESTS : OF_RESPONSES;
  return names.has(folded) || PREFIXES.some((prefix) => folded.startsWith(prefix));
}
