import { REQUEST_FIELDS, type RequestFieldName } from '../../../../src/request/request-fields.ts';
import type { UpstreamExpectation } from '../../case.ts';
import {
  changed,
  get,
  MALFORMED,
  post,
  refused,
  RESET,
  served,
  type FieldsCase,
  type Fields,
  type Answered,
} from '../../fields-case.ts';

type Values = readonly [one: string, other: string];

/** The fields of a connection, which HTTP/2 does not have (RFC 9113 section 8.2.2). */
const NOT_IN_HTTP2: ReadonlySet<RequestFieldName> = new Set([
  ...(['connection', 'upgrade', 'transfer-encoding', 'keep-alive', 'proxy-connection'] as const),
]);

/** Two values of each field that may be repeated with no other effect. */
const VALUES: Readonly<Record<RequestFieldName, Values>> = {
  host: ['gateway.test', 'other.test'],
  'content-length': ['5', '6'],
  'transfer-encoding': ['chunked', 'gzip'],
  connection: ['x-one', 'x-two'],
  upgrade: ['h2c', 'TLS/1.0'],
  expect: ['200-maybe', '201-maybe'],
  authorization: ['Bearer {token}', 'Bearer other'],
  'x-api-key': ['theirs', 'others'],
  'idempotency-key': ['one', 'other'],
  'x-gateway-environment': ['production', 'staging'],
  'x-gateway-version': ['v1', 'v2'],
  'content-type': ['text/plain', 'text/csv'],
  'grpc-timeout': ['1S', '2S'],
  'max-forwards': ['3', '5'],
  'x-forwarded-for': ['203.0.113.9', '198.51.100.4'],
  'x-forwarded-proto': ['http', 'https'],
  'x-forwarded-host': ['a.test', 'b.test'],
  'x-forwarded-port': ['80', '8080'],
  'x-forwarded-prefix': ['/a', '/b'],
  via: ['1.1 one', '1.1 other'],
  'cdn-loop': ['one', 'other'],
  origin: ['https://a.test', 'https://b.test'],
  'access-control-request-method': ['PUT', 'DELETE'],
  'access-control-request-headers': ['x-one', 'x-two'],
  traceparent: [
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  ],
  tracestate: ['a=1', 'b=2'],
  'x-request-id': ['one', 'other'],
  cookie: ['a=1', 'b=2'],
  'sec-fetch-mode': ['cors', 'navigate'],
  forwarded: ['for=203.0.113.9', 'for=198.51.100.4'],
  'x-real-ip': ['203.0.113.9', '198.51.100.4'],
  'proxy-authorization': ['Basic dXNlcjpwYXNz', 'Bearer other'],
  proxy: ['http://a.test', 'http://b.test'],
  'keep-alive': ['timeout=5', 'timeout=6'],
  'proxy-connection': ['keep-alive', 'close'],
  te: ['trailers', 'deflate'],
  trailer: ['x-one', 'x-two'],
};

/** What `get` and the like send without the field of a case. */
const ALREADY_SENT: ReadonlySet<RequestFieldName> = new Set(['host', 'authorization']);
const NAMES = Object.keys(REQUEST_FIELDS) as RequestFieldName[];
const RULE = 'docs/understand/request-flow.md';

function caseOf(name: RequestFieldName, how: 'equal' | 'different'): FieldsCase {
  const [one, other] = VALUES[name];
  const values = [one, how === 'equal' ? one : other];
  const sent = ALREADY_SENT.has(name) ? values.slice(1) : values;
  const fields = sent.map((value) => [name, value] as const);
  const isBody = name === 'content-length' || name === 'transfer-encoding';
  const body = isBody ? { body: ['hello'] } : {};
  const http1 = expectedOf(name, how, values);
  const parts = { name: `the field ${name} twice, ${how}`, rule: RULE, ...body };
  const all = requestWith(name, fields);
  // HTTP/2 has one length, and no value of TE but `trailers`.
  const isOtherTe = name === 'te' && how === 'different';
  if (NOT_IN_HTTP2.has(name) || name === 'content-length' || isOtherTe) {
    return { ...parts, fields: all, result: RESET, http1 };
  }
  return { ...parts, fields: all, result: http1, http1: 'same' };
}

function requestWith(name: RequestFieldName, fields: Fields): Fields {
  if (name === 'max-forwards') return changed({ ':method': 'OPTIONS' }, ...fields);
  return name === 'content-length' || name === 'transfer-encoding'
    ? post(...fields)
    : get(...fields);
}

/** The result over HTTP/1.1. */
function expectedOf(
  name: RequestFieldName,
  how: 'equal' | 'different',
  values: readonly string[],
): Answered {
  // The body has one coding, and one length.
  if (name === 'transfer-encoding') return MALFORMED;
  if (name === 'content-length' && how === 'different') return MALFORMED;
  // The route of the case has no versions.
  if (name === 'x-gateway-version') return refused();
  const { differing } = REQUEST_FIELDS[name];
  const isRefused = differing === 'refused' || differing === 'refused_in_options';
  if (how === 'different' && isRefused) return refused();
  return served(upstreamOf(name, values));
}

/** The names that the upstream gets once in any case, because the gateway sets them. */
const SET_BY_GATEWAY: ReadonlySet<RequestFieldName> = new Set([
  ...(['host', 'content-length', 'cdn-loop', 'traceparent', 'x-request-id'] as const),
  ...(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const),
]);

function upstreamOf(name: RequestFieldName, values: readonly string[]): UpstreamExpectation {
  const body = name === 'content-length' ? { body: 'hello' } : {};
  const { differing, forwarded } = REQUEST_FIELDS[name];
  if (SET_BY_GATEWAY.has(name)) return { ...body, ...SEEN[name], once: [name] };
  // Of a request that is no gRPC call it goes on, in one line.
  if (name === 'grpc-timeout') return { has: [`grpc-timeout: ${values.join(', ')}`] };
  if (name === 'te' && values.every((value) => value === 'trailers')) {
    return { takesTrailers: true, once: [name] };
  }
  if (name in SEEN) return { ...SEEN[name] };
  if (forwarded === 'no' || forwarded === 'replaced') return { lacks: [name] };
  const has = values.map((value) => `${name}: ${value}`);
  return differing === 'refused' ? { has, once: [name] } : { has };
}

/** What the upstream gets, if it is more than the table says. */
const SEEN: Readonly<Partial<Record<RequestFieldName, UpstreamExpectation>>> = {
  'content-length': { has: ['content-length: 5'] },
  'x-forwarded-for': { has: ['x-forwarded-for: 127.0.0.1'] },
  'x-forwarded-host': { has: ['x-forwarded-host: gateway.test'] },
  'max-forwards': { method: 'OPTIONS', has: ['max-forwards: 2'], once: ['max-forwards'] },
  // It goes on only beside a valid traceparent.
  tracestate: { lacks: ['tracestate'] },
  cookie: {},
};

/** The table of request fields: each field twice, with equal and with different values. */
export const REPEATED_FIELDS: readonly FieldsCase[] = NAMES.flatMap((name) => [
  caseOf(name, 'equal'),
  caseOf(name, 'different'),
]);
