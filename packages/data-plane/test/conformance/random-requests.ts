import fc from 'fast-check';
import type { Fields } from './fields-case.ts';

/** A request that both protocols can express. */
export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly isAuthorized: boolean;
  /** `{id}` is replaced by another text for each request that is sent. */
  readonly fields: Fields;
  /** The parts of the body; null if there is none. */
  readonly body: readonly string[] | null;
  /** How often the length of the body is announced. Only frames can end a body before its length, so it is the true one. */
  readonly lengths: number;
  /** Sent after a body without a length. Well-formed over both protocols. */
  readonly trailers: Fields;
}

const METHODS = [
  'GET',
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'FROB',
  'get',
  'G T',
  'M'.repeat(33),
];
const SEGMENTS = [
  '/case',
  '/a%2fb',
  '//',
  '/..',
  '/%2e%2e',
  '/%zz',
  '/%0a',
  '/;v=1',
  '/\xe9',
  '/a b',
  '\\',
  '#x',
  '?a=1',
  '?',
];
const AUTHORITIES = [
  'gateway.test',
  'gateway.test:80',
  '[::1]:80',
  'a.test:x',
  ':80',
  'user@a.test',
  'a.test/x',
  '',
];
const VALUES = [
  '1',
  'a, b',
  'a\tb \xe9',
  '',
  ' a',
  'a ',
  'a\0b',
  'a\nb',
  '\x7f',
  'trailers',
  '0',
  'x'.repeat(300),
];
/** Names on which the gateway acts, and names that are not valid or look like others. */
const NAMES = [
  ...[
    'x-a',
    'x-a',
    'X-A',
    'x_a',
    'x a',
    '',
    'cookie',
    'accept',
    'via',
    'cdn-loop',
    'te',
    'trailer',
  ],
  ...['transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'proxy-connection'],
  ...['host', 'expect', 'authorization', 'x-api-key', 'max-forwards', 'forwarded'],
  ...['x-forwarded-for', 'x_forwarded_for', 'x-forwarded-host', 'x-real-ip', 'x-gateway-version'],
  ...['x-gateway-environment', 'traceparent', 'tracestate', 'x-request-id', 'proxy', 'range'],
  ...['content_length', 'transfer_encoding', 'http2-settings', 'proxy-authorization'],
];
/** Values with a meaning for some of the names. */
const FIELDS: Fields = [
  ['expect', '100-continue'],
  ['host', 'gateway.test'],
  ['x-gateway-environment', 'production'],
  ['authorization', 'Bearer {token}'],
  ['idempotency-key', 'key-{id}'],
  ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['connection', 'x-a'],
  ['transfer-encoding', 'chunked'],
];

const field = fc.oneof(
  fc.constantFrom(...FIELDS),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)),
);

const TRAILERS: Fields = [
  ...(['x-sum', 'grpc-status', 'etag', 'x_a', 'server-timing'] as const).map(
    (name) => [name, '1'] as const,
  ),
  ...(['authorization', 'cookie', 'x-forwarded-for', 'x_request_id', 'x-a'] as const).map(
    (name) => [name, '2'] as const,
  ),
  ['te', 'trailers'],
  ['x-empty', ''],
];

/** Requests, most of them without an error. */
export const REQUESTS: fc.Arbitrary<RandomRequest> = fc.record({
  method: fc.constantFrom(...METHODS),
  path: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('/v1/proxy/test/case', '/v1/proxy/test?q') },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.constantFrom(...SEGMENTS), { maxLength: 4 })
        .map((parts) => `/v1/proxy/test${parts.join('')}`),
    },
    { weight: 1, arbitrary: fc.constantFrom('/v1/proxy', '/', '/v1/proxy/none', '*', 'x') },
  ),
  authority: fc.oneof(
    { weight: 4, arbitrary: fc.constant('gateway.test') },
    { weight: 1, arbitrary: fc.constantFrom(...AUTHORITIES) },
  ),
  isAuthorized: fc.constantFrom(true, true, true, true, false),
  fields: fc.array(field, { maxLength: 4 }),
  body: fc.option(
    fc.array(fc.constantFrom('', 'hello', 'x'.repeat(9000), '\r\n0\r\n\r\n'), {
      minLength: 1,
      maxLength: 3,
    }),
  ),
  lengths: fc.constantFrom(0, 0, 1, 1, 1, 2),
  trailers: fc.array(fc.constantFrom(...TRAILERS), { maxLength: 3 }),
});
