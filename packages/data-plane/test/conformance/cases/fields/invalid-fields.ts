import {
  get,
  inexpressible,
  MALFORMED,
  post,
  refused,
  RESET,
  served,
  shown,
  type FieldsCase,
} from '../../fields-case.ts';

const RULE = 'RFC 9113 section 8.2.1';

/** HTTP/1.1 refuses them too. */
const CONTROLS = [
  ...[
    'a\rb',
    'a\nb',
    'a\0b',
    'a\x01b',
    'a\x08b',
    'a\x0bb',
    'a\x0cb',
    'a\x1b[2J',
    'a\x1fb',
    'a\x7fb',
  ],
  ...[
    'v\r',
    'v\n',
    'v\0',
    '\0',
    '\x0bv',
    'v\r\n continued',
    'v\r\n\tcontinued',
    'v\nx-smuggled: 1',
    'v\rx-smuggled: 1',
  ],
];

/** HTTP/1.1 would read the rest of the value as other fields or as another request. */
const LINES = [
  ...[
    'v\r\nx-smuggled: 1',
    'v\r\ntransfer-encoding: chunked',
    'v\r\ncontent-length: 0',
    '\r\nhost: evil.test',
  ],
  ...['v\r\n\r\n', 'v\r\n\r\nGET /v1/proxy/test/smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
];

/** RFC 9110 section 5.5: HTTP/1.1 removes the space around a value. */
const SPACED = ['v ', 'v\t', ' v', '\tv', 'v \t ', '  v'];

/** Fields on which the gateway or the upstream acts. One with a space is not the one without. */
const SPACED_FIELDS: readonly (readonly [
  name: string,
  value: string,
  http1: FieldsCase['http1'],
])[] = [
  ['if-match', '"r1" ', served({ has: ['if-match: "r1"'] })],
  ['cookie', 'a=b ', served({ has: ['cookie: a=b'] })],
  ['cookie', ' a=b', served({ has: ['cookie: a=b'] })],
  ['x-gateway-version', 'v2 ', refused()],
  ['x-gateway-environment', ' production', served()],
  ['x-forwarded-for', ' 203.0.113.9', served({ has: ['x-forwarded-for: 127.0.0.1'] })],
  ['idempotency-key', 'k ', served({ has: ['idempotency-key: k'] })],
  ['authorization', 'Bearer {token} ', served({ lacks: ['authorization'] })],
  ['host', 'gateway.test ', served({ once: ['host'] })],
  ['host', 'gateway.test/x', refused()],
  ['range', 'bytes=0-0 ', served({ has: ['range: bytes=0-0'] })],
];

/** HTTP/1.1 refuses them too. */
const NAMES = [
  ...[
    '',
    ' ',
    'x y',
    'x\ty',
    'x(y)',
    'x/y',
    'x"y"',
    'x{y}',
    'x@y',
    'x[y]',
    'x,y',
    'x;y',
    'x=y',
    'x?y',
    'x\\y',
    'x<y>',
  ],
  ...[
    'x\0',
    'x\x7f',
    'x\xe9',
    'x\r\ny',
    'x\ny',
    'x\ry',
    'transfer-encoding ',
    'content-length ',
    'content-length\t',
  ],
  ...[' content-length', '\ttransfer-encoding', 'transfer-encoding\x0b', 'host '],
];

/** HTTP/1.1 would end the name at the colon. */
const COLONS = ['foo:bar', ':path ', 'x:', 'transfer-encoding:chunked', 'content-length: 0\r\nx'];

/** HTTP/1.1 has names in any case. */
const UPPER_CASE = ['X-Upper', 'Content-Type', 'x-uppeR'];

/** Names and values that HTTP/2 does not have (RFC 9113 section 8.2.1). */
export const INVALID_FIELDS: readonly FieldsCase[] = [
  ...CONTROLS.map((value): FieldsCase => ({
    name: `the value ${shown(value)}`,
    rule: RULE,
    fields: get(['x-field', value]),
    result: RESET,
    http1: MALFORMED,
  })),
  ...LINES.map((value): FieldsCase => ({
    name: `the value ${shown(value)}`,
    rule: RULE,
    fields: get(['x-field', value]),
    result: RESET,
    http1: inexpressible('a line break ends the value'),
  })),
  ...SPACED.map((value): FieldsCase => ({
    name: `the value ${shown(value)}`,
    rule: RULE,
    fields: get(['x-field', value]),
    result: RESET,
    http1: served({ has: ['x-field: v'] }),
  })),
  ...SPACED_FIELDS.map(([name, value, http1]): FieldsCase => ({
    name: `the field ${name} with the value ${shown(value)}`,
    rule: RULE,
    fields: get([name, value]),
    result: RESET,
    http1,
  })),
  {
    name: 'a Content-Length with a space',
    rule: RULE,
    fields: post(['content-length', '5 ']),
    body: ['hello'],
    result: RESET,
    http1: served({ body: 'hello', has: ['content-length: 5'] }),
  },
  ...NAMES.map((name): FieldsCase => ({
    name: `the name ${shown(name)}`,
    rule: RULE,
    fields: get([name, 'v']),
    result: RESET,
    http1: MALFORMED,
  })),
  ...COLONS.map((name): FieldsCase => ({
    name: `the name ${shown(name)}`,
    rule: RULE,
    fields: get([name, 'v']),
    result: RESET,
    http1: inexpressible('a colon ends the name'),
  })),
  ...UPPER_CASE.map((name): FieldsCase => ({
    name: `the name ${shown(name)}`,
    rule: RULE,
    fields: get([name, 'v']),
    result: RESET,
    http1: served({ has: [`${name.toLowerCase()}: v`] }),
  })),
  {
    name: 'cookies in several fields, which are joined',
    rule: 'RFC 9113 section 8.2.3',
    fields: get(['cookie', 'a=1'], ['cookie', 'b=2'], ['x-a', '1'], ['cookie', 'c=3']),
    result: served({ has: ['cookie: a=1; b=2; c=3'], once: ['cookie'] }),
    http1: inexpressible('HTTP/1.1 has one Cookie field'),
  },
  {
    name: 'an empty value',
    rule: 'RFC 9110 section 5.5',
    fields: get(['x-field', '']),
    result: served({ has: ['x-field: '] }),
    http1: 'same',
  },
];
