import {
  changed,
  get,
  inexpressible,
  MALFORMED,
  pseudo,
  refused,
  RESET,
  served,
  shown,
  type FieldsCase,
  type Fields,
} from '../../fields-case.ts';

const BEARER = ['authorization', 'Bearer {token}'] as const;
const ONLY_HTTP2 = inexpressible('HTTP/1.1 has no pseudo-header fields');

const RESETS: readonly (readonly [name: string, fields: Fields])[] = [
  ['an unknown pseudo-header', get([':unknown', '1'])],
  [':status in a request', get([':status', '200'])],
  [':path in upper case', changed({ ':path': undefined }, [':Path', '/v1/proxy/test/case'])],
  [':method twice', [...pseudo(), [':method', 'POST'], BEARER]],
  [':path twice', [...pseudo(), [':path', '/v1/proxy/other'], BEARER]],
  [':scheme twice', [...pseudo(), [':scheme', 'http'], BEARER]],
  [':authority twice', [...pseudo(), [':authority', 'evil.test'], BEARER]],
  ['no :method', changed({ ':method': undefined })],
  ['no :scheme', changed({ ':scheme': undefined })],
  ['no :path', changed({ ':path': undefined })],
  [
    ':path after a field',
    [...pseudo({ ':path': undefined }), BEARER, [':path', '/v1/proxy/test/case']],
  ],
  [':protocol without CONNECT', get([':protocol', 'websocket'])],
  [
    ':protocol after a field',
    [...pseudo({ ':method': 'CONNECT' }), BEARER, [':protocol', 'websocket']],
  ],
  [':scheme with a line break', changed({ ':scheme': 'https\r\nx: y' })],
  [':scheme with a space', changed({ ':scheme': 'https ' })],
  [':authority with a line break', changed({ ':authority': 'gateway.test\r\nx: y' })],
  [
    ':method with a line break',
    changed({ ':method': 'GET /v1/proxy/test/smuggled HTTP/1.1\r\nhost: a\r\n\r\nGET' }),
  ],
  ['a path without a slash of another scheme', changed({ ':scheme': 'other', ':path': 'a' })],
  [':path with a line break', changed({ ':path': '/v1/proxy/test/case HTTP/1.1\r\nx: y\r\n\r\n' })],
];

const NO_METHODS = ['', 'GET ', ' GET', 'GET:', 'GE\tT', 'GE\0T', 'GE(T', 'G\xc9T'];

const PATHS = [
  ...[
    '',
    'v1/proxy/test/case',
    '/v1/proxy/test/a b',
    '/v1/proxy/test/case HTTP/1.1',
    '/v1/proxy/test/a\tb',
  ],
  ...[
    '/v1/proxy/test/a\0',
    '/v1/proxy/test/a\x7f',
    '/v1/proxy/test/a\nb',
    '/v1/proxy/test/a\rb',
    ' /v1/proxy/test/case',
  ],
];

const AUTHORITIES: readonly (readonly [authority: string, http2: 'reset' | 'refused'])[] = [
  ['', 'reset'],
  ['user@gateway.test', 'reset'],
  ['user:secret@gateway.test', 'reset'],
  ['http://gateway.test', 'reset'],
  ['gateway.test, other.test', 'reset'],
  ['gateway.test/x', 'reset'],
  ['gateway.test?x', 'reset'],
  ['gateway.test#x', 'reset'],
  ['gateway.test evil.test', 'reset'],
  ['gateway.test\\evil', 'reset'],
  ['gateway\xe9.test', 'reset'],
  ['gateway.test:80:81', 'refused'],
  ['gateway.test:http', 'refused'],
  ['gateway.test:123456', 'refused'],
  ['[::1', 'refused'],
  [':80', 'refused'],
];

/** The parts of a request line and of Host (RFC 9113 section 8.3). */
export const PSEUDO_HEADERS: readonly FieldsCase[] = [
  ...RESETS.map(([name, fields]): FieldsCase => ({
    name,
    rule: 'RFC 9113 section 8.3',
    fields,
    result: RESET,
    http1: ONLY_HTTP2,
  })),
  ...NO_METHODS.map((method): FieldsCase => ({
    name: `the method ${shown(method)}`,
    rule: 'RFC 9110 section 9.1',
    fields: changed({ ':method': method }),
    result: RESET,
    http1: MALFORMED,
  })),
  {
    name: 'a method of 33 characters',
    rule: 'RFC 9110 section 9.1',
    fields: changed({ ':method': 'M'.repeat(33) }),
    result: MALFORMED,
    http1: MALFORMED,
  },
  {
    name: 'the method CONNECT',
    rule: 'RFC 9110 section 9.3.6',
    fields: changed({ ':method': 'CONNECT', ':scheme': undefined, ':path': undefined }),
    result: refused(405, 'method_not_allowed'),
    http1: inexpressible('the target of CONNECT is in the request line'),
  },
  ...PATHS.map((path): FieldsCase => ({
    name: `the path ${shown(path)}`,
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':path': path }),
    result: RESET,
    http1: MALFORMED,
  })),
  ...['/v1/proxy/test/caf\xe9', '/v1/proxy/test/case?\xff'].map((path): FieldsCase => ({
    name: `the path ${shown(path)}`,
    rule: 'RFC 3986 section 2',
    fields: changed({ ':path': path }),
    result: MALFORMED,
    http1: 'same',
  })),
  {
    name: 'an absolute path, which HTTP/1.1 allows',
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':path': 'https://gateway.test/v1/proxy/test/case' }),
    result: RESET,
    http1: served(),
  },
  {
    name: 'an asterisk as the path of GET',
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':path': '*' }),
    result: RESET,
    http1: refused(),
  },
  ...['http', 'https', 'HTTPS'].map((scheme): FieldsCase => ({
    name: `the scheme ${scheme}, which does not decide what the upstream is told`,
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':scheme': scheme }),
    result: served({ has: ['x-forwarded-proto: http'] }),
    http1: ONLY_HTTP2,
  })),
  ...AUTHORITIES.map(([authority, http2]): FieldsCase => ({
    name: `the authority ${shown(authority)}`,
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':authority': authority }),
    result: http2 === 'reset' ? RESET : refused(),
    http1: refused(),
  })),
  {
    name: 'a Host that is not the authority',
    rule: 'RFC 9113 section 8.3.1',
    fields: get(['host', 'evil.test']),
    result: refused(),
    http1: 'same',
  },
  {
    name: 'a Host that is the authority',
    rule: 'RFC 9113 section 8.3.1',
    fields: get(['host', 'gateway.test']),
    result: served({ has: ['x-forwarded-host: gateway.test'], once: ['host'] }),
    http1: 'same',
  },
  {
    name: 'a Host without an authority',
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':authority': undefined }, ['host', 'gateway.test']),
    result: served({ has: ['x-forwarded-host: gateway.test'], once: ['host'] }),
    http1: 'same',
  },
  {
    name: 'neither Host nor authority',
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':authority': undefined }),
    result: RESET,
    http1: refused(),
  },
  {
    name: 'two equal Hosts without an authority',
    rule: 'docs/understand/request-flow.md',
    fields: changed(
      { ':authority': undefined },
      ['host', 'gateway.test'],
      ['host', 'gateway.test'],
    ),
    result: RESET,
    http1: served({ has: ['x-forwarded-host: gateway.test'], once: ['host'] }),
  },
  {
    name: 'two Hosts without an authority',
    rule: 'RFC 9113 section 8.3.1',
    fields: changed({ ':authority': undefined }, ['host', 'gateway.test'], ['host', 'evil.test']),
    result: RESET,
    http1: refused(),
  },
];
