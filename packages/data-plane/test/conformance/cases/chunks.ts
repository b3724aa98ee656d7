import { get, post, REFUSED_FOR_GOOD, SERVED, SMUGGLED, type ConformanceCase } from '../case.ts';

const CHUNKED = ['Transfer-Encoding: chunked'];

const BROKEN: readonly (readonly [name: string, body: string])[] = [
  ['a size that is not a number', 'zz\r\nhello\r\n0\r\n\r\n'],
  ['a size with a sign', '+5\r\nhello\r\n0\r\n\r\n'],
  ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
  ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['no size', '\r\nhello\r\n0\r\n\r\n'],
  ['a size beyond 64 bits', `10000000000000005\r\nhello\r\n0\r\n\r\n`],
  ['a size with a hundred digits', `${'f'.repeat(100)}\r\nhello\r\n0\r\n\r\n`],
  ['a space before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['a size ended by a bare LF', '5\nhello\r\n0\r\n\r\n'],
  ['a size ended by a bare CR', '5\rhello\r\n0\r\n\r\n'],
  ['data longer than its size', '5\r\nhello!\r\n0\r\n\r\n'],
  ['data ended by a bare LF', '5\r\nhello\n0\r\n\r\n'],
  ['data without a line end', '5\r\nhello0\r\n\r\n'],
  ['an extension with a bare LF', '5;a\nhello\r\n0\r\n\r\n'],
  ['an extension with a bare CR', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['an extension with a NUL', '5;a\x00\r\nhello\r\n0\r\n\r\n'],
  ['an endless extension', `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`],
  ['an extension with an open quote', '5;a="\r\nhello\r\n0\r\n\r\n'],
  ['an extension without a name', '5;;\r\nhello\r\n0\r\n\r\n'],
  ['an extension without its value', '5;a=\r\nhello\r\n0\r\n\r\n'],
  ['an extension with non-ASCII bytes', '5;\xff\r\nhello\r\n0\r\n\r\n'],
  ['a last chunk ended by a bare LF', '5\r\nhello\r\n0\n\r\n'],
  ['a trailer section ended by a bare LF', '5\r\nhello\r\n0\r\n\n'],
  ['a trailer with a space before its colon', '5\r\nhello\r\n0\r\nX-A : 1\r\n\r\n'],
  ['a folded trailer', '5\r\nhello\r\n0\r\nX-A: 1\r\n 2\r\n\r\n'],
  ['a Content-Length trailer', '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'],
  ['a Transfer-Encoding trailer', '5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n'],
  [
    'a space before an extension, which another parser might read as data',
    '5 ;a\r\nhello\r\n0\r\n\r\n',
  ],
  ['a trailer without a colon', '5\r\nhello\r\n0\r\nX-A\r\n\r\n'],
];

/** RFC 9112 section 7.1. */
export const CHUNKS: readonly ConformanceCase[] = [
  ...BROKEN.map(([name, body]) => ({
    name: `chunks with ${name}`,
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, body + SMUGGLED),
    ...REFUSED_FOR_GOOD,
  })),
  {
    name: 'chunks with extensions, which are dropped',
    rule: 'RFC 9112 section 7.1.1',
    send: post(CHUNKED, '5;a=1;b="2;\\"\\\\"\r\nhello\r\n1;c\r\n!\r\n0;d\r\n\r\n'),
    client: SERVED,
    upstream: { body: 'hello!' },
  },
  {
    name: 'chunk sizes with leading zeros',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '0005\r\nhello\r\n00\r\n\r\n'),
    client: SERVED,
    upstream: { body: 'hello' },
  },
  {
    name: 'chunk sizes in upper and lower case',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, 'A\r\n0123456789\r\nb\r\n0123456789!\r\n0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '01234567890123456789!' },
  },
  {
    name: 'only the last chunk',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '' },
  },
  {
    name: 'trailers beside others that decide something, which are dropped',
    rule: 'RFC 9110 section 6.5.1',
    send: post(
      ['Trailer: X-Sum', ...CHUNKED],
      '5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Request-Id: mine\r\nHost: other.test\r\n' +
        'Authorization: Bearer {token}\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n',
    ),
    client: SERVED,
    upstream: {
      body: 'hello',
      has: ['x-forwarded-for: 127.0.0.1', 'trailer: X-Sum'],
      lacks: ['x-sum', 'content-length', 'authorization'],
      trailers: ['x-sum: 1'],
    },
  },
  ...[
    ...['Connection: close', 'connection: CLOSE', 'Proxy-Connection: close'],
    ...['Upgrade: websocket', 'Expect: 100-continue', 'Content_Length: 3', 'TE: trailers'],
  ].map((line) => ({
    name: `a trailer without effect on the message: ${line}`,
    rule: 'RFC 9110 section 6.5.1',
    send: post(CHUNKED, `5\r\nhello\r\n0\r\n${line}\r\n\r\n`) + get(),
    client: { responses: [200, 200], body: 'case', connection: 'stays' } as const,
    upstream: [{ body: 'hello' }, { method: 'GET', body: '' }],
  })),
  {
    name: 'a chunk that contains a last chunk and a request',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '17\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '0\r\n\r\nGET / HTTP/1.1\r\n\r\n' },
  },
];
