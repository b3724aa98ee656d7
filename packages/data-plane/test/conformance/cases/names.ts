import { get, HOST, post, REFUSED, SERVED, TARGET, text, type ConformanceCase } from '../case.ts';

const SPOOFED = [
  ...['X-Forwarded-Port: 1', 'X-Forwarded-Prefix: /admin', 'X-Forwarded-Server: evil.test'],
  ...['X-Forwarded-Ssl: on', 'X-Forwarded-Scheme: https', 'X-Forwarded-User: admin'],
  ...['X-Forwarded-Client-Cert: Subject="CN=admin"', 'X-Forwarded-Email: admin@test'],
  ...['Forwarded: for=203.0.113.9;host=evil.test;proto=https', 'X-Real-IP: 203.0.113.9'],
  ...['X-Gateway-Subject: admin', 'X-Gateway-Internal: yes', 'X-Gateway-Error: none'],
  ...['x_gateway_subject: admin', 'X-Gateway_Subject: admin', 'X_GATEWAY-SUBJECT: admin'],
  ...['X-Forwarded_Port: 1', 'X_Gateway_Environment: production', 'x_gateway-anything: yes'],
  ...['X_Real_IP: 203.0.113.9', 'X_Forwarded_Prefix: /admin', 'X-Api_Key: {token}'],
  ...['Proxy_Authorization: Basic {basic}', 'Proxy-Authorization: Bearer {token}'],
] as const;

const OWN: readonly (readonly [line: string, has: string])[] = [
  ['X-Forwarded-For: 203.0.113.9', 'x-forwarded-for: 127.0.0.1'],
  ['X_Forwarded_For: 203.0.113.9', 'x-forwarded-for: 127.0.0.1'],
  ['x-forwarded_for: 203.0.113.9', 'x-forwarded-for: 127.0.0.1'],
  ['X-Forwarded-Proto: https', 'x-forwarded-proto: http'],
  ['X_Forwarded_Proto: https', 'x-forwarded-proto: http'],
  ['X-Forwarded-Host: evil.test', 'x-forwarded-host: gateway.test'],
  ['X_Forwarded_Host: evil.test', 'x-forwarded-host: gateway.test'],
];

/** Two spellings of a field, as some clients send it that join their own headers with those of the caller. */
const TWO_SPELLINGS = [
  ['X-API-Key: theirs', 'x-api-key: theirs'],
  ['Idempotency-Key: two-spellings', 'idempotency-key: two-spellings'],
] as const;

/** The forms of a gateway token, none of which may reach the upstream. */
const FORMS = [
  ...[
    'Authorization: Bearer {token}',
    'authorization: bearer {token}',
    'AUTHORIZATION: BEARER {token}',
  ],
  ...[
    'Authorization: Bearer  {token}',
    'Authorization: {token}',
    'Authorization: Token token="{token}"',
  ],
  ...[
    'Authorization: Basic {basic}',
    'Authorization: basic  {basic}',
    'Authorization: Bearer "{token}"',
  ],
  ...['Authorization: Bearer x, Bearer {token}', 'X-API-Key: {token}', 'x-api-key: Bearer {token}'],
  ...['X_Api_Key: {token}', 'X-Api_Key: {token}', 'Proxy-Authorization: Bearer {token}'],
  ...['X-Gateway-Token: {token}', 'X-Request-Id: {token}', 'X-Forwarded-User: {token}'],
];

/** An upstream would take later requests of other callers for those of the same user. */
const CONNECTION_BOUND = [
  ...['NTLM TlRMTVNTUAAB', 'Negotiate YIIB', 'Kerberos YIIB', 'Nego2 YIIB', 'CredSSP TlRM'],
  ...['ntlm TlRM', 'NTLM\tTlRM', 'Negotiate', ', NTLM TlRM'],
];

/** RFC 9110 section 7.6.1: the gateway states the identity of the caller. */
export const NAMES: readonly ConformanceCase[] = [
  ...SPOOFED.map((line) => ({
    name: `${line}, which is dropped`,
    rule: 'docs/understand/request-flow.md',
    send: get([line]),
    client: SERVED,
    upstream: { lacks: [line.slice(0, line.indexOf(':')).toLowerCase().replaceAll('_', '-')] },
  })),
  ...OWN.map(([line, has]) => ({
    name: `${line}, which the gateway replaces`,
    rule: 'docs/understand/request-flow.md',
    send: get([line]),
    client: SERVED,
    upstream: { has: [has], once: [has.slice(0, has.indexOf(':'))] },
  })),
  ...TWO_SPELLINGS.map(([one, other]) => ({
    name: `${one} in two spellings, which is one`,
    rule: 'docs/understand/request-flow.md',
    send: get([one, other]),
    client: SERVED,
    upstream: { has: [other], once: [other.slice(0, other.indexOf(':'))] },
  })),
  {
    name: 'a request id of the caller, which is recorded and not forwarded',
    rule: 'docs/use/management-api.md',
    send: get([
      'X-Request-Id: mine',
      'X_Request_Id: mine',
      'Connection: X-Request-Id, Authorization',
    ]),
    client: SERVED,
    upstream: { once: ['x-request-id'], lacks: ['authorization'] },
  },
  {
    name: 'an environment with an encoded CR and LF, which does not exist',
    rule: 'docs/use/failure-modes.md',
    send: get(['X-Gateway-Environment: a%0d%0aX-Injected: 1']),
    client: {
      responses: [404],
      code: 'route_not_found',
      connection: 'stays',
      lacks: ['x-injected'],
    },
    upstream: 'none',
  },
  {
    name: 'a version that the route does not have',
    rule: 'docs/use/policies/versions.md',
    send: get(['X-Gateway-Version: "><script>']),
    ...REFUSED,
  },
  {
    name: 'an idempotency key with non-ASCII bytes',
    rule: 'docs/use/policies/idempotency-keys.md',
    send: post(['Idempotency-Key: \xff\xfe', 'Content-Length: 0']),
    ...REFUSED,
  },
  ...['Authorization: Basic {basic}', 'authorization: basic  {basic}'].map((line) => ({
    name: `${line}, which is accepted and not forwarded`,
    rule: 'RFC 7617 section 2',
    send: text(`GET ${TARGET} HTTP/1.1`, [HOST, line]),
    client: SERVED,
    upstream: { lacks: ['authorization'] },
  })),
  {
    name: 'no credential, which is asked for in two fields',
    rule: 'RFC 9110 section 11.6.1',
    send: text(`GET ${TARGET} HTTP/1.1`, [HOST]),
    client: {
      responses: [401],
      code: 'authentication_failed',
      connection: 'stays',
      has: ['www-authenticate: Bearer', 'www-authenticate: Basic realm="gateway"'],
    },
    upstream: 'none',
  },
  {
    name: 'a token in the query, which is not accepted',
    rule: 'RFC 6750 section 2.3',
    send: text(`GET ${TARGET}?access_token={token} HTTP/1.1`, [HOST]),
    client: { responses: [401], code: 'authentication_failed', connection: 'stays' },
    upstream: 'none',
  },
];

/** Credentials on a route without authentication. */
export const TOKENS: readonly ConformanceCase[] = [
  ...FORMS.map((line) => ({
    name: `${line}, which is not forwarded`,
    rule: 'docs/understand/request-flow.md',
    send: text(`GET ${TARGET} HTTP/1.1`, [HOST, line]),
    client: SERVED,
    upstream: {},
  })),
  ...CONNECTION_BOUND.map((credential) => ({
    name: `a credential that authenticates a connection: ${JSON.stringify(credential)}`,
    rule: 'RFC 4559 section 6',
    send: text(`GET ${TARGET} HTTP/1.1`, [HOST, `Authorization: ${credential}`]),
    ...REFUSED,
  })),
  {
    name: 'a credential that authenticates a connection, listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: text(`GET ${TARGET} HTTP/1.1`, [
      ...[HOST, 'Connection: Authorization', 'Authorization: NTLM TlRMTVNTUAAB'],
    ]),
    client: SERVED,
    upstream: { lacks: ['authorization'] },
  },
  {
    name: 'a credential for the upstream',
    rule: 'RFC 9110 section 11.6.2',
    send: text(`GET ${TARGET} HTTP/1.1`, [
      HOST,
      'Authorization: Basic dXNlcjpwYXNz',
      'X-API-Key: theirs',
    ]),
    client: SERVED,
    upstream: { has: ['authorization: Basic dXNlcjpwYXNz', 'x-api-key: theirs'] },
  },
  {
    name: 'a credential for the upstream listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: text(`GET ${TARGET} HTTP/1.1`, [
      ...[HOST, 'Connection: Authorization, X-API-Key'],
      ...['Authorization: Basic dXNlcjpwYXNz', 'X-API-Key: theirs'],
    ]),
    client: SERVED,
    upstream: { lacks: ['authorization', 'x-api-key'] },
  },
];
