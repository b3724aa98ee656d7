import {
  changed,
  get,
  inexpressible,
  post,
  refused,
  served,
  type DowngradeCase,
  type Fields,
} from '../downgrade-case.ts';

/** What the gateway states itself, and names that an upstream could take for it. */
const SPOOFED: Fields = [
  ['x-forwarded-port', '1'],
  ['x-forwarded-prefix', '/admin'],
  ['x-forwarded-user', 'admin'],
  ['x-forwarded-client-cert', 'Subject="CN=admin"'],
  ['forwarded', 'for=203.0.113.9;host=evil.test'],
  ['x-real-ip', '203.0.113.9'],
  ['x_real_ip', '203.0.113.9'],
  ['x-gateway-subject', 'admin'],
  ['x_gateway_subject', 'admin'],
  ['x-gateway_internal', 'yes'],
  ['proxy-authorization', 'Basic dXNlcjpwYXNz'],
  ['proxy', 'http://evil.test'],
];

const REPLACED: readonly (readonly [name: string, value: string, has: string])[] = [
  ['x-forwarded-for', '203.0.113.9', 'x-forwarded-for: 127.0.0.1'],
  ['x_forwarded_for', '203.0.113.9', 'x-forwarded-for: 127.0.0.1'],
  ['x-forwarded-host', 'evil.test', 'x-forwarded-host: gateway.test'],
  ['x_forwarded_host', 'evil.test', 'x-forwarded-host: gateway.test'],
];

const DOT_SEGMENTS = [
  ...[
    '/../admin',
    '/a/../../admin',
    '/%2e%2e/admin',
    '/.%2e/admin',
    '/a%2f..%2fadmin',
    '/..\\admin',
  ],
  ...['/..;/admin', '/%252e%252e/admin', '/%c0%ae%c0%ae/admin', '/..%00/admin', '/..%5cadmin'],
];

const NO_PATHS = [
  '/a%0d%0aX-Injected:%201',
  '/a%0a',
  '/a%00',
  '/a%7f',
  '/100%',
  '/%zz',
  '/a#b',
  '/case?x#b',
];

const SAME_PATHS = [
  '/a%2fcase',
  '//a//case',
  '/a;v=1/case',
  '/.../case',
  '/case?a=%0d%0aX-Injected:1',
  '/case?x=/../..',
];

/** Fields and paths that are the same in both versions. */
export const FORWARDED_FIELDS: readonly DowngradeCase[] = [
  ...SPOOFED.map((field): DowngradeCase => ({
    name: `the field ${field[0]}, which is dropped`,
    rule: 'docs/understand/request-flow.md',
    fields: get(field),
    result: served({ lacks: [field[0].replaceAll('_', '-')] }),
    http1: 'same',
  })),
  ...REPLACED.map(([name, value, has]): DowngradeCase => ({
    name: `the field ${name}, which the gateway replaces`,
    rule: 'docs/understand/request-flow.md',
    fields: get([name, value]),
    result: served({ has: [has], once: [has.slice(0, has.indexOf(':'))] }),
    http1: 'same',
  })),
  {
    name: 'cookies in several fields, which are joined',
    rule: 'RFC 9113 section 8.2.3',
    fields: get(['cookie', 'a=1'], ['cookie', 'b=2'], ['x-a', '1'], ['cookie', 'c=3']),
    result: served({ has: ['cookie: a=1; b=2; c=3'], once: ['cookie'] }),
    http1: inexpressible('HTTP/1.1 has one Cookie field'),
  },
  {
    name: 'a request in a loop by CDN-Loop',
    rule: 'RFC 8586 section 3',
    fields: get(['cdn-loop', `${'gateway, '.repeat(9)}other`]),
    result: refused(),
    http1: 'same',
  },
  {
    name: 'a request in a loop by Via',
    rule: 'RFC 9110 section 7.6',
    fields: get(['via', `${'1.1 gateway, '.repeat(20)}1.1 other`]),
    result: refused(),
    http1: 'same',
  },
  {
    name: 'Max-Forwards of zero in OPTIONS',
    rule: 'RFC 9110 section 7.6.2',
    fields: changed({ ':method': 'OPTIONS' }, ['max-forwards', '0']),
    result: { kind: 'answered', status: 204, connection: 'stays' },
    http1: 'same',
  },
  {
    name: 'an idempotency key with bytes above ASCII',
    rule: 'docs/use/policies/idempotency-keys.md',
    fields: post(['idempotency-key', '\xff\xfe'], ['content-length', '0']),
    result: refused(),
    http1: 'same',
  },
  {
    name: 'no credential',
    rule: 'docs/use/failure-modes.md',
    fields: get().filter(([name]) => name !== 'authorization'),
    result: refused(401, 'authentication_failed'),
    http1: 'same',
  },
  ...[...DOT_SEGMENTS, ...NO_PATHS].map((subPath): DowngradeCase => ({
    name: `the path ${subPath}`,
    rule: 'RFC 3986 section 5.2.4',
    fields: changed({ ':path': `/v1/proxy/test${subPath}` }),
    result: refused(),
    http1: 'same',
  })),
  ...SAME_PATHS.map((subPath): DowngradeCase => ({
    name: `the path ${subPath}, which is forwarded unchanged`,
    rule: 'docs/understand/request-flow.md',
    fields: changed({ ':path': `/v1/proxy/test${subPath}` }),
    result: served({ target: `/base${subPath}` }),
    http1: 'same',
  })),
  ...[
    '/v1/proxy',
    '//v1/proxy/test/case',
    '/v1/%70roxy/test/case',
    '/v1/../v1/proxy/test/case',
  ].map((path): DowngradeCase => ({
    name: `the path ${path}, which has no route`,
    rule: 'docs/use/failure-modes.md',
    fields: changed({ ':path': path }),
    result: refused(404, 'not_found'),
    http1: 'same',
  })),
];
