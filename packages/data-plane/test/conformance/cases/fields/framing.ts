import { SMUGGLED } from '../../case.ts';
import {
  changed,
  get,
  inexpressible,
  MALFORMED,
  post,
  RESET,
  served,
  shown,
  type FieldsCase,
  type Fields,
} from '../../fields-case.ts';

const IS_HOP_BY_HOP = inexpressible('HTTP/1.1 has fields of the connection');
const HAS_NO_FRAMES = inexpressible('only a frame can end a body before its length');

const CONNECTION_SPECIFIC: Fields = [
  ['connection', 'close'],
  ['connection', 'keep-alive'],
  ['connection', 'authorization'],
  ['connection', 'transfer-encoding, x-a'],
  ['keep-alive', 'timeout=5'],
  ['proxy-connection', 'keep-alive'],
  ['transfer-encoding', 'chunked'],
  ['transfer-encoding', 'identity'],
  ['transfer-encoding', 'gzip, chunked'],
  ['transfer-encoding', ''],
  ['upgrade', 'websocket'],
  ['upgrade', 'h2c'],
  ['te', 'gzip'],
  ['te', 'trailers, deflate'],
];

/** HTTP/1.1 refuses them too. */
const LENGTHS = [
  '+5',
  '-5',
  '0x5',
  '5, 5',
  '5,5',
  '5, 6',
  '5,',
  '"5"',
  '\x0b5',
  '5\0',
  '1 5',
  '5.0',
  '5e0',
  '05 5',
  '',
  'five',
  '18446744073709551616',
  '99999999999999999999999',
];

/** Names that an upstream could read as a framing field. They are dropped. */
const FOLDED = [
  ...['transfer_encoding', 'transfer__encoding', 'transfer---encoding', 'transfer-_-encoding'],
  ...['content_length', 'content__length', 'content--length', 'content_-length'],
];

const NOT_FRAMING = [
  'x-transfer-encoding',
  'transferencoding',
  'content-lengths',
  'xcontent-length',
];

/** The end of a body (RFC 9113 sections 8.1.1 and 8.2.2). */
export const FRAMING: readonly FieldsCase[] = [
  ...CONNECTION_SPECIFIC.map((field): FieldsCase => ({
    name: `the field ${field[0]}: ${field[1]}`,
    rule: 'RFC 9113 section 8.2.2',
    fields: post(field),
    body: ['5\r\nhello\r\n0\r\n\r\n'],
    result: RESET,
    http1: IS_HOP_BY_HOP,
  })),
  {
    name: 'the field http2-settings, which is not forwarded',
    rule: 'RFC 9113 section 8.2.2',
    fields: get(['http2-settings', 'AAMAAABk']),
    result: served({ lacks: ['http2-settings'] }),
    http1: 'same',
  },
  ...LENGTHS.map((length): FieldsCase => ({
    name: `a Content-Length of ${shown(length)}`,
    rule: 'RFC 9110 section 8.6',
    fields: post(['content-length', length]),
    body: ['hello'],
    result: RESET,
    http1: MALFORMED,
  })),
  {
    name: 'two Content-Lengths, 0 and 5',
    rule: 'RFC 9110 section 8.6',
    fields: post(['content-length', '0'], ['content-length', '5']),
    body: ['hello'],
    result: RESET,
    http1: MALFORMED,
  },
  ...(
    [
      ['more than its length', '4', ['hello']],
      ['more than its length in a second frame', '5', ['hello', SMUGGLED]],
      ['a request after its length', '5', [`hello${SMUGGLED}`]],
      ['less than its length', '6', ['hello']],
      ['bytes and a length of 0', '0', [SMUGGLED]],
      ['no bytes and a length', '5', ['']],
    ] as const
  ).map(([name, length, body]): FieldsCase => ({
    name: `a body with ${name}`,
    rule: 'RFC 9113 section 8.1.1',
    fields: post(['content-length', length]),
    body,
    result: RESET,
    http1: HAS_NO_FRAMES,
  })),
  {
    name: 'a length without a body',
    rule: 'RFC 9113 section 8.1.1',
    fields: post(['content-length', '5']),
    result: RESET,
    http1: HAS_NO_FRAMES,
  },
  {
    name: 'a body without a length',
    rule: 'RFC 9113 section 8.1',
    fields: post(),
    body: ['hel', '', 'lo'],
    result: served({ body: 'hello', lacks: ['content-length'] }),
    http1: 'same',
  },
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method): FieldsCase => ({
    name: `${method} with a body that is a request`,
    rule: 'RFC 9110 section 9.3',
    fields: changed({ ':method': method }, ['content-length', '27']),
    body: ['GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    result: served({
      method,
      body: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      has: ['content-length: 27'],
    }),
    http1: 'same',
  })),
  ...FOLDED.map((name): FieldsCase => ({
    name: `the field ${name}, which is dropped`,
    rule: 'docs/understand/request-flow.md',
    fields: post([name, name.startsWith('t') ? 'chunked' : '0'], ['content-length', '15']),
    body: ['5\r\nhello\r\n0\r\n\r\n'],
    result: served({
      body: '5\r\nhello\r\n0\r\n\r\n',
      has: ['content-length: 15'],
      lacks: ['transfer-encoding', 'content--length'],
      once: ['content-length'],
    }),
    http1: 'same',
  })),
  ...NOT_FRAMING.map((name): FieldsCase => ({
    name: `the field ${name}, which is not framing`,
    rule: 'RFC 9110 section 5.1',
    fields: post([name, '1'], ['content-length', '5']),
    body: ['hello'],
    result: served({ body: 'hello', has: [`${name}: 1`, 'content-length: 5'] }),
    http1: 'same',
  })),
  {
    name: 'trailers with a length',
    rule: 'RFC 9110 section 6.5.1',
    fields: post(),
    body: ['hello'],
    trailers: [['content-length', '99']],
    result: RESET,
    http1: MALFORMED,
  },
  ...(
    [
      ['a pseudo-header', [[':path', '/v1/proxy/test/other']]],
      ['a transfer coding', [['transfer-encoding', 'chunked']]],
      ['a line break', [['x-late', 'a\r\nb: c']]],
      ['a space at the end', [['x-late', 'a ']]],
      ['an invalid name', [['x late', 'a']]],
    ] as const
  ).map(([name, trailers]): FieldsCase => ({
    name: `trailers with ${name}`,
    rule: 'RFC 9113 section 8.1',
    fields: post(['content-length', '9']),
    body: ['first'],
    trailers,
    result: RESET,
    http1: inexpressible('a body with a length has no trailers'),
  })),
];
