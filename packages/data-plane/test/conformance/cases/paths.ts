import { AUTHORIZED, HOST, REFUSED, SERVED, text, type ConformanceCase } from '../case.ts';

const ROUTE = '/v1/proxy/test';

const OUT_OF_THE_BASE: readonly (readonly [name: string, subPath: string])[] = [
  ['plain', '/../admin'],
  ['at the end', '/a/..'],
  ['in the middle', '/a/../../admin'],
  ['after an empty segment', '//../admin'],
  ['encoded', '/%2e%2e/admin'],
  ['encoded in upper case', '/%2E%2E/admin'],
  ['half encoded', '/.%2e/admin'],
  ['half encoded, the other half', '/%2e./admin'],
  ['after an encoded slash', '/a%2f..%2fadmin'],
  ['encoded after an encoded slash', '/a%2F%2e%2e%2Fadmin'],
  ['encoded twice', '/%252e%252e/admin'],
  ['encoded twice with its slash', '/%252e%252e%252fadmin'],
  ['encoded three times', '/%25252e%25252e/admin'],
  ['encoded many times', '/%25252525252e%25252525252e/admin'],
  ['with a parameter', '/..;/admin'],
  ['with a parameter and its value', '/..;v=1/admin'],
  ['with an encoded parameter', '/%2e%2e%3b/admin'],
  ['before an encoded question mark', '/..%3f/admin'],
  ['before an encoded fragment', '/..%23/admin'],
  ['with backslashes', '/..\\admin'],
  ['between backslashes', '/a\\..\\..\\admin'],
  ['with an encoded backslash', '/..%5cadmin'],
  ['with a backslash that is encoded twice', '/..%255c..%255cadmin'],
  ['in overlong UTF-8 of two bytes', '/%c0%ae%c0%ae/admin'],
  ['with a slash in overlong UTF-8', '/..%c0%afadmin'],
  ['in overlong UTF-8 of three bytes', '/%e0%80%ae%e0%80%ae/admin'],
  ['in overlong UTF-8 of four bytes', '/%f0%80%80%ae%f0%80%80%ae/admin'],
  ['in overlong UTF-8 that is encoded twice', '/%25c0%25ae%25c0%25ae/admin'],
  ['in UTF-16 escapes', '/%u002e%u002e/admin'],
  ['before a NUL', '/..%00/admin'],
  ['before a NUL in overlong UTF-8', '/..%c0%80/admin'],
  ['before a space', '/..%20/admin'],
  ['around a byte that is not UTF-8', '/.%ff./admin'],
  ['before a byte that is not UTF-8', '/..%ff/admin'],
  ['in overlong UTF-8 with wrong bits', '/%c0%2e%c0%6e/admin'],
  ['in fullwidth characters', '/%ef%bc%8e%ef%bc%8e%ef%bc%8fadmin'],
];

const NO_PATH: readonly (readonly [name: string, subPath: string])[] = [
  ['an encoded CR and LF', '/a%0d%0aX-Injected:%201'],
  ['an encoded LF', '/a%0aX-Injected'],
  ['a CR and LF encoded twice', '/a%250d%250aX-Injected'],
  ['an encoded NUL', '/a%00.html'],
  ['an encoded delete character', '/a%7f'],
  ['an encoded tab', '/a%09b'],
  ['an encoded CR', '/a%0D'],
  ['an LF between dots', '/.%0a./admin'],
  ['only a percent sign', '/%'],
  ['a percent sign without an escape', '/100%'],
  ['an invalid escape', '/%zz'],
  ['a fragment', '/a#b'],
];

const SAME: readonly (readonly [name: string, subPath: string])[] = [
  ['nothing after its route', ''],
  ['only a slash', '/'],
  ['an empty query', '/x?'],
  ['a query that is not decoded', '?a=1&a=2&&=;%zz+%20?/../..'],
  ['an encoded slash', '/a%2fcase'],
  ['one dot', '/./case'],
  ['one dot and an encoded fragment', '/.%23case'],
  ['bytes of Latin-1', '/Fl%F6te'],
  ['bytes of GBK', '/%E4%AF%C0%C0'],
  ['a byte that is never UTF-8', '/%ff'],
  ['an escape that is encoded four times', '/a%2525252541'],
  ['an empty segment', '//a//case'],
  ['a parameter', '/a;v=1/case'],
  ['three dots', '/.../case'],
  ['a name that begins with dots', '/..a/.b/case'],
  ['UTF-8', '/caf%C3%A9/%E2%82%AC'],
  ['a percent sign', '/100%25'],
  ['dots in the query', '/case?next=/../../admin&x=%2e%2e'],
  ['an encoded CR and LF in the query', '/case?a=%0d%0aX-Injected:1'],
  ['a query that is a URL', '/case?url=http://evil.test/a?b&c=d'],
  ['an address in its path', '/http://evil.test/case'],
];

function asked(target: string): string {
  return text(`GET ${target} HTTP/1.1`, [HOST, AUTHORIZED]);
}

const NOT_FOUND = { responses: [404], connection: 'stays' } as const;

/** RFC 3986 sections 2.1 and 3.3: no path leaves the base of its route. */
export const PATHS: readonly ConformanceCase[] = [
  ...OUT_OF_THE_BASE.map(([name, subPath]) => ({
    name: `a dot segment ${name}: ${subPath}`,
    rule: 'RFC 3986 section 5.2.4',
    send: asked(ROUTE + subPath),
    ...REFUSED,
  })),
  ...NO_PATH.map(([name, subPath]) => ({
    name: `a path with ${name}: ${subPath}`,
    rule: 'RFC 3986 section 2.1',
    send: asked(ROUTE + subPath),
    ...REFUSED,
  })),
  ...SAME.map(([name, subPath]) => ({
    name: `a path with ${name}, which is forwarded unchanged: ${subPath}`,
    rule: 'docs/understand/request-flow.md',
    send: asked(ROUTE + subPath),
    client: { responses: [200], connection: 'stays' } as const,
    upstream: { target: `/base${subPath}` },
  })),
  ...[
    '/v1/proxy/../proxy/test/case',
    '/v1/proxy/%74est/case',
    '/v1/proxy/test%2fcase',
    ...['/v1/proxy/TEST', '/v1/proxy/..', '/v1/proxy/constructor'],
  ].map((target) => ({
    name: `a path of another route: ${target}`,
    rule: 'docs/use/failure-modes.md',
    send: asked(target),
    client: { ...NOT_FOUND, code: 'route_not_found' as const },
    upstream: 'none' as const,
  })),
  ...[
    ...[
      '/v1/proxy',
      '/v1/proxy/',
      '/v1/proxy//',
      '/v1/proxy/?x',
      '//v1/proxy/test/case',
      '/v1/%70roxy/test/case',
    ],
    ...[
      '/v1\\proxy\\test/case',
      '/./v1/proxy/test/case',
      '/V1/PROXY/test/case',
      '/v1/../v1/proxy/test/case',
    ],
  ].map((target) => ({
    name: `a path without a route: ${target}`,
    rule: 'docs/use/failure-modes.md',
    send: asked(target),
    client: { ...NOT_FOUND, code: 'not_found' as const },
    upstream: 'none' as const,
  })),
  {
    name: 'the absolute form with another host, which is forwarded',
    rule: 'RFC 9112 section 3.2.2',
    send: asked(`http://evil.test${ROUTE}/case`),
    client: SERVED,
    upstream: {},
  },
  {
    name: 'the absolute form with a dot segment',
    rule: 'RFC 3986 section 5.2.4',
    send: asked(`http://gateway.test${ROUTE}/%2e%2e/admin`),
    ...REFUSED,
  },
];
