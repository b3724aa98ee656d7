import fc from 'fast-check';

/** Who sends a request. `wrong_header`: a valid token in the header that the route does not take. */
const CALLERS = [
  'valid',
  'second',
  'other_route',
  'no_scope',
  'development',
  'expired',
  'revoked',
  'anonymous',
  'garbage',
  'password',
  'unknown_token',
  'wrong_header',
  'two_tokens',
  'ntlm',
  'jwt',
  'jwt_expired',
  'jwt_wrong_tenant',
  'jwt_other_issuer',
] as const;

export type Caller = (typeof CALLERS)[number];

/** The services of the test, by what is behind them. */
const SERVICES = ['two', 'one', 'regions', 'dead'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** A route, without what names it and its services. */
export interface GeneratedRoute {
  readonly auth: 'token' | 'api_key' | 'jwt' | 'none';
  readonly services: readonly ServiceName[];
  /** In place of services. */
  readonly answer: object | undefined;
  readonly weights: readonly number[];
  readonly methods: readonly string[] | null;
  readonly rate_limit: {
    readonly limit: number;
    readonly window_seconds: number;
    readonly per: 'route' | 'token' | 'ip';
  };
  readonly retry_count: number;
  readonly max_body_bytes: number;
  readonly idempotency: { readonly required: boolean };
  readonly regions: readonly string[];
  readonly allow_encoded_control_characters: boolean;
  readonly locations: 'map' | 'off';
  /** A value with the claim is one of routes with JWTs alone. */
  readonly rewrite: object | null;
  readonly cors: object | null;
  /** Without its service. */
  readonly mirror: { readonly percent: number; readonly max_body_bytes: number } | null;
  readonly affinity: object | null;
  /** Without those that another route has. */
  readonly match: readonly GeneratedWay[];
}

/** A way with one host and one path at most. */
export interface GeneratedWay {
  readonly hosts: readonly string[];
  readonly paths: readonly object[];
  readonly headers: readonly object[];
}

export interface GeneratedRequest {
  readonly route: number;
  readonly method: string;
  /** undefined: the request names its route, and the path is what follows the name. */
  readonly host: string | undefined;
  readonly path: string;
  /** Which way of its route a request by host and path aims at. */
  readonly way: number;
  readonly query: string;
  readonly caller: Caller;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** No window ends within the test. */
const WINDOW_SECONDS = 86_400;

const services = fc.uniqueArray(fc.constantFrom(...SERVICES), { minLength: 1, maxLength: 2 });

const ways: fc.Arbitrary<GeneratedWay> = fc.record({
  hosts: fc.constantFrom(
    ['a.explained.test'],
    ['a.explained.test'],
    ['b.explained.test'],
    ['*.explained.test'],
    [],
  ),
  paths: fc.constantFrom(
    [],
    [{ prefix: '/a' }],
    [{ prefix: '/a/b' }],
    [{ prefix: '/c' }],
    [{ exact: '/a' }],
    [{ exact: '/a/b' }],
    [{ exact: '/a%2Fb' }],
  ),
  headers: fc.constantFrom([], [], [{ name: 'X-Custom', value: 'value' }]),
});

const rewrites = fc.constantFrom(
  null,
  { path: '/r/{path.rest}' },
  { add_prefix: '/v3', host: 'preserve', query: { remove: ['a'] } },
  { host: 'inner.test', query: { set: [{ name: 'a', value: '{token.id}' }] } },
  {
    request_headers: {
      set: [{ name: 'X-Custom', value: '{token.id}' }],
      add: [{ name: 'X-Added', value: '{request.id}' }],
      remove: ['Accept'],
    },
  },
  {
    path: '/t/{jwt.claims.tenant}',
    request_headers: { set: [{ name: 'X-Tenant', value: '{jwt.claims.tenant}' }] },
  },
);

export const routes: fc.Arbitrary<GeneratedRoute> = fc.record({
  rewrite: rewrites,
  match: fc.array(ways, { maxLength: 3 }),
  auth: fc.constantFrom('token', 'token', 'token', 'api_key', 'jwt', 'none'),
  services,
  answer: fc.constantFrom(
    ...[undefined, undefined, undefined, undefined, undefined, undefined],
    ...[{ respond: { status: 503, body: 'closed' } }, { redirect: { location: '/n/{path.rest}' } }],
  ),
  weights: fc.constantFrom([1, 1], [3, 1], [1, 0]),
  methods: fc.option(fc.uniqueArray(fc.constantFrom(...METHODS, 'PROPFIND'), { minLength: 4 }), {
    freq: 2,
  }),
  rate_limit: fc.record({
    limit: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constantFrom(50, 1000)),
    window_seconds: fc.constant(WINDOW_SECONDS),
    per: fc.constantFrom('route', 'token', 'ip'),
  }),
  retry_count: fc.integer({ min: 0, max: 2 }),
  max_body_bytes: fc.constantFrom(3, 1024, 1024),
  idempotency: fc.record({ required: fc.constantFrom(false, false, true) }),
  regions: fc.constantFrom([], ['second', 'third'], ['third']),
  allow_encoded_control_characters: fc.boolean(),
  locations: fc.constantFrom('map', 'off'),
  cors: fc.constantFrom(
    null,
    { origins: ['https://app.explained.test'] },
    { origins: ['https://*.explained.test'], methods: ['GET', 'PUT'], headers: ['X-Custom'] },
    { origins: ['*'] },
  ),
  mirror: fc.constantFrom(
    null,
    { percent: 100, max_body_bytes: 2 },
    { percent: 100, max_body_bytes: 1024 },
    { percent: 0, max_body_bytes: 1024 },
  ),
  affinity: fc.constantFrom(
    ...[null, null, null, { by: 'token' }, { by: 'ip' }, { by: 'header', header: 'X-Custom' }],
    ...[{ by: 'gateway_cookie' }, { by: 'gateway_cookie', cookie: 'a', retry_elsewhere: true }],
    ...[{ by: 'upstream_header' }, { by: 'upstream_cookie', cookie: 'a' }],
  ),
});

/** An id with a suffix of a key that no data plane has. */
const ENDED_SESSION = `id~gw${'A'.repeat(38)}`;

/** One value in so many requests, else none. */
const oneIn = <T>(count: number, value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: count - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: value },
  );

const keys = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('a', 'b', '"a"', '"quoted key"') },
  { weight: 1, arbitrary: fc.constantFrom('', 'not a key', '"') },
);

const headers = fc
  .record({
    'idempotency-key': oneIn(2, keys),
    'x-gateway-version': oneIn(8, fc.constantFrom('v0', 'v1', 'v7')),
    'max-forwards': oneIn(4, fc.constantFrom('0', '1', 'x')),
    'x-custom': oneIn(4, fc.constant('value')),
    x_forwarded_for: oneIn(10, fc.constant('spoofed')),
    via: oneIn(10, fc.constantFrom('1.1 other', '1.1 other', Array(9).fill('1.1 gateway').join())),
    'cdn-loop': oneIn(10, fc.constantFrom('other', Array(9).fill('gateway').join())),
    connection: oneIn(8, fc.constantFrom('x-custom', 'authorization', 'te')),
    te: oneIn(4, fc.constantFrom('trailers', 'gzip, trailers')),
    origin: oneIn(3, fc.constantFrom('https://app.explained.test', 'null')),
    accept: oneIn(4, fc.constant('application/json')),
    'mcp-session-id': oneIn(3, fc.constantFrom('old', ENDED_SESSION)),
    cookie: oneIn(
      3,
      fc.constantFrom('a=old', `a=${'A'.repeat(22)}; b=1`, `a=${ENDED_SESSION}`, 'b=1'),
    ),
  })
  .map((all): Record<string, string> => {
    const set = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(set) as Record<string, string>;
  });

const paths = fc.oneof(
  { weight: 14, arbitrary: fc.constantFrom('', '/', '/a/b', '/./b', '//b', '/%ff', '/status/404') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/../x', '/..%20/x', '/.%ff./x', '/a%0ab', '/a%zz', '/a#b'),
  },
);

/** On a host that routes name, or that one of their wildcards covers, or none. */
const hosts = fc.constantFrom(
  'a.explained.test',
  'A.Explained.Test.:8080',
  'b.explained.test',
  'c.b.explained.test',
  'unknown.test',
);
const wholePaths = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('/a', '/a/', '/%61/b', '/a//b/c', '/a%2fb', '/c', '/d') },
  { weight: 1, arbitrary: fc.constantFrom('/', '/v1/whoami', '/a/../c', '/a%zz') },
);

/** What a browser sends before a request of another origin. */
const preflights = fc.record({
  origin: fc.constantFrom('https://app.explained.test', 'https://b.explained.test', 'null'),
  'access-control-request-method': fc.constantFrom('GET', 'PUT'),
  'access-control-request-headers': fc.constantFrom('x-custom', 'x-custom,x-b', 'a b'),
});

/** Requests to one of so many routes, by its name or by a host and a path. */
export function requests(routeCount: number): fc.Arbitrary<GeneratedRequest> {
  const place = fc.oneof(
    { weight: 3, arbitrary: fc.record({ host: fc.constant(undefined), path: paths }) },
    { weight: 2, arbitrary: fc.record({ host: hosts, path: wholePaths }) },
  );
  const rest = fc.record({
    route: fc.nat(routeCount - 1),
    way: fc.nat(11),
    method: fc.oneof(
      { weight: 24, arbitrary: fc.constantFrom(...METHODS) },
      { weight: 2, arbitrary: fc.constantFrom('PROPFIND', 'FROB') },
    ),
    query: fc.oneof(
      { weight: 24, arbitrary: fc.constantFrom('', '?a=1') },
      { weight: 1, arbitrary: fc.constant('?a=1#b') },
    ),
    caller: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom<Caller>('valid', 'second') },
      { weight: 2, arbitrary: fc.constantFrom(...CALLERS) },
    ),
    headers,
    body: fc.constantFrom(null, null, 'abc', 'abc', 'longer'),
  });
  return fc.tuple(place, rest, oneIn(6, preflights)).map(([where, request, asked]) => {
    const made = { ...request, ...where };
    if (asked === undefined) return made;
    return { ...made, method: 'OPTIONS', body: null, headers: { ...made.headers, ...asked } };
  });
}
