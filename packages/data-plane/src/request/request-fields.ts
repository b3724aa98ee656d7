/**
 * What happens if a request has a field more than once, with different values. Equal values count as one, and what only
 * goes on to the upstream goes on as it came.
 */
export type Differing =
  /** The request is refused, because two systems could use different ones. */
  | 'refused'
  /** The same if a trusted proxy sent them. What anybody else sends does not count. */
  | 'refused_of_proxy'
  /** The same in OPTIONS. In another method it has no meaning. */
  | 'refused_in_options'
  /** None of them counts, as if the field were absent. */
  | 'ignored'
  /** They are one list. */
  | 'list'
  /** No value is read, however many there are. */
  | 'unread';

/** What the upstream gets under the name of a field. `replaced`: what the gateway sets, if anything. */
export type Forwarded = 'yes' | 'unless_ours' | 'replaced' | 'no';

export interface RequestField {
  readonly differing: Differing;
  readonly forwarded: Forwarded;
}

const field = (differing: Differing, forwarded: Forwarded): RequestField => ({
  differing,
  forwarded,
});

/**
 * Every field of a request by its name: those that the gateway reads, and those that it keeps from the upstream. The
 * table in docs/understand/request-flow.md is the same. A field without an entry is `unread` and forwarded, unless it is
 * hop-by-hop or begins with `x-gateway-` or `x-forwarded-`.
 */
export const REQUEST_FIELDS = {
  host: field('refused', 'replaced'),
  'content-length': field('refused', 'replaced'),
  'transfer-encoding': field('list', 'replaced'),
  connection: field('list', 'no'),
  upgrade: field('list', 'replaced'),
  expect: field('list', 'no'),
  authorization: field('refused', 'replaced'),
  'x-api-key': field('refused', 'unless_ours'),
  'idempotency-key': field('refused', 'yes'),
  'x-gateway-environment': field('refused', 'no'),
  'x-gateway-version': field('refused', 'no'),
  // Decides whether the request is a gRPC call.
  'content-type': field('list', 'yes'),
  'grpc-timeout': field('list', 'replaced'),
  'max-forwards': field('refused_in_options', 'yes'),
  'x-forwarded-for': field('list', 'replaced'),
  'x-forwarded-proto': field('refused_of_proxy', 'replaced'),
  'x-forwarded-host': field('refused_of_proxy', 'replaced'),
  // Sent if the route has `locations: map`.
  'x-forwarded-port': field('unread', 'replaced'),
  'x-forwarded-prefix': field('unread', 'replaced'),
  // Replaced if the service has `send_via`.
  via: field('list', 'yes'),
  'cdn-loop': field('list', 'replaced'),
  traceparent: field('ignored', 'replaced'),
  tracestate: field('list', 'replaced'),
  'x-request-id': field('ignored', 'replaced'),
  cookie: field('unread', 'yes'),
  // A browser sends one; a list is no origin.
  origin: field('list', 'yes'),
  'access-control-request-method': field('unread', 'yes'),
  'access-control-request-headers': field('unread', 'yes'),
  'sec-fetch-mode': field('unread', 'yes'),
  forwarded: field('unread', 'no'),
  'x-real-ip': field('unread', 'no'),
  'proxy-authorization': field('unread', 'no'),
  // A CGI upstream would read it as the variable that names its own proxy (HTTP_PROXY).
  proxy: field('unread', 'no'),
  'keep-alive': field('unread', 'no'),
  'proxy-connection': field('unread', 'no'),
  // Sent if the caller takes trailers.
  te: field('list', 'replaced'),
  // Sent for the trailers that pass.
  trailer: field('list', 'replaced'),
} as const satisfies Readonly<Record<string, RequestField>>;

export type RequestFieldName = keyof typeof REQUEST_FIELDS;
