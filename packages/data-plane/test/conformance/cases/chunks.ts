import { get, post, REFUSED_FOR_GOOD, SERVED, SMUGGLED, type ConformanceCase } from '../case.ts';

const CHUNKED = ['Transfer-Encoding: chunked'];

const BROKEN: readonly (readonly [name: string, body: string])[] = [
  ['a size that is no number', 'zz\r\nhello\r\n0\r\n\r\n'],
  ['a size with a sign', '+5\r\nhello\r\n0\r\n\r\n'],
  ['a negative size', '-5\r\nhello\r\n0\r\n\r\n'],
  ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['no size', '\r\nhello\r\n0\r\n\r\n'],
  ['a size beyond 64 bits', `10000000000000005\r\nhello\r\n0\r\n\r\n`],
  ['a size of a hundred digits', `${'f'.repeat(100)}\r\nhello\r\n0\r\n\r\n`],
  ['a space before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['a size that a bare LF ends', '5\nhello\r\n0\r\n\r\n'],
  ['a size that a bare CR ends', '5\rhello\r\n0\r\n\r\n'],
  ['data that is longer than its size', '5\r\nhello!\r\n0\r\n\r\n'],
  ['data that a bare LF ends', '5\r\nhello\n0\r\n\r\n'],
  ['data that nothing ends', '5\r\nhello0\r\n\r\n'],
  ['an extension with a bare LF', '5;a\nhello\r\n0\r\n\r\n'],
  ['an extension with a bare CR', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['an extension with a NUL', '5;a\x00\r\nhello\r\n0\r\n\r\n'],
  ['an extension without end', `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`],
  ['an extension whose quotes are not closed', '5;a="\r\nhello\r\n0\r\n\r\n'],
  ['an extension without a name', '5;;\r\nhello\r\n0\r\n\r\n'],
  ['an extension without its value', '5;a=\r\nhello\r\n0\r\n\r\n'],
  ['an extension of bytes beyond ASCII', '5;\xff\r\nhello\r\n0\r\n\r\n'],
  ['a last chunk that a bare LF ends', '5\r\nhello\r\n0\n\r\n'],
  ['a trailer section that a bare LF ends', '5\r\nhello\r\n0\r\n\n'],
  ['a trailer with a space before its colon', '5\r\nhello\r\n0\r\nX-A : 1\r\n\r\n'],
  ['a trailer that is folded', '5\r\nhello\r\n0\r\nX-A: 1\r\n 2\r\n\r\n'],
  ['a trailer that is a length', '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'],
  ['a trailer that is a coding', '5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n'],
  ['a blank before an extension, which another might read as data', '5 ;a\r\nhello\r\n0\r\n\r\n'],
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
    name: 'chunks with extensions, which nobody relies on',
    rule: 'RFC 9112 section 7.1.1',
    send: post(CHUNKED, '5;a=1;b="2;\\"\\\\"\r\nhello\r\n1;c\r\n!\r\n0;d\r\n\r\n'),
    client: SERVED,
    upstream: { body: 'hello!' },
  },
  {
    name: 'chunks with zeros before their sizes',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '0005\r\nhello\r\n00\r\n\r\n'),
    client: SERVED,
    upstream: { body: 'hello' },
  },
  {
    name: 'chunks with sizes in both cases',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, 'A\r\n0123456789\r\nb\r\n0123456789!\r\n0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '01234567890123456789!' },
  },
  {
    name: 'the last chunk alone',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '' },
  },
  {
    name: 'trailers, credentials among them, which end at the gateway',
    rule: 'RFC 9110 section 6.5.1',
    send: post(
      ['Trailer: X-Sum', ...CHUNKED],
      '5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Request-Id: mine\r\nHost: other.test\r\n' +
        'Authorization: Bearer {token}\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n',
    ),
    client: SERVED,
    upstream: {
      body: 'hello',
      has: ['x-forwarded-for: 127.0.0.1'],
      lacks: ['x-sum', 'content-length', 'authorization'],
    },
  },
  ...[
    ...['Connection: close', 'connection: CLOSE', 'Proxy-Connection: close'],
    ...['Upgrade: websocket', 'Expect: 100-continue', 'Content_Length: 3', 'TE: trailers'],
  ].map((line) => ({
    name: `a trailer that says nothing of the message: ${line}`,
    rule: 'RFC 9110 section 6.5.1',
    send: post(CHUNKED, `5\r\nhello\r\n0\r\n${line}\r\n\r\n`) + get(),
    client: { responses: [200, 200], body: 'case', connection: 'stays' } as const,
    upstream: [{ body: 'hello' }, { method: 'GET', body: '' }],
  })),
  {
    name: 'a chunk that holds a last chunk and a request',
    rule: 'RFC 9112 section 7.1',
    send: post(CHUNKED, '17\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n0\r\n\r\n'),
    client: SERVED,
    upstream: { body: '0\r\n\r\nGET / HTTP/1.1\r\n\r\n' },
  },
];
