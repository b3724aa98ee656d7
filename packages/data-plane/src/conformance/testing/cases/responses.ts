import { BAD_GATEWAY, get, SERVED, type ConformanceCase } from '../case.ts';

const answer = (lines: readonly string[], body = ''): string =>
  `${lines.join('\r\n')}\r\n\r\n${body}`;
const OK = 'HTTP/1.1 200 OK';

const INVALID: readonly (readonly [name: string, rule: string, bytes: string])[] = [
  [
    'a Content-Length twice',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: 4', 'Content-Length: 5'], 'case'),
  ],
  [
    'a Content-Length twice in one line',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: 4, 5'], 'case'),
  ],
  ['a negative Content-Length', 'RFC 9112 section 6.3', answer([OK, 'Content-Length: -4'], 'case')],
  [
    'a Content-Length with a sign',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: +4'], 'case'),
  ],
  ['a Content-Length in hex', 'RFC 9112 section 6.3', answer([OK, 'Content-Length: 0x4'], 'case')],
  [
    'a Content-Length beyond 64 bits',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: 18446744073709551620'], 'case'),
  ],
  ['an empty Content-Length', 'RFC 9112 section 6.3', answer([OK, 'Content-Length:'], 'case')],
  [
    'a length beside a coding',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: 4', 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\n\r\n'),
  ],
  [
    'a coding that does not end in chunked',
    'RFC 9112 section 6.3',
    answer([OK, 'Transfer-Encoding: chunked, gzip'], ''),
  ],
  ['several codings', 'RFC 9112 section 6.1', answer([OK, 'Transfer-Encoding: gzip, chunked'], '')],
  [
    'a coding of identity',
    'RFC 9112 section 6.1',
    answer([OK, 'Transfer-Encoding: identity'], 'case'),
  ],
  ['an empty coding', 'RFC 9112 section 6.1', answer([OK, 'Transfer-Encoding:'], 'case')],
  [
    'chunked in two lines',
    'RFC 9112 section 6.1',
    answer([OK, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  ],
  [
    'a coding in HTTP/1.0',
    'RFC 9112 section 6.1',
    answer(['HTTP/1.0 200 OK', 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\n\r\n'),
  ],
  [
    'a folded line',
    'RFC 9112 section 5.2',
    answer([OK, 'X-A: 1', ' 2', 'Content-Length: 4'], 'case'),
  ],
  ['a space before the colon', 'RFC 9112 section 5.1', answer([OK, 'Content-Length : 4'], 'case')],
  [
    'a line without a colon',
    'RFC 9112 section 5',
    answer([OK, 'X-A', 'Content-Length: 4'], 'case'),
  ],
  ['an empty name', 'RFC 9110 section 5.1', answer([OK, ': 1', 'Content-Length: 4'], 'case')],
  [
    'a NUL in a value',
    'RFC 9110 section 5.5',
    answer([OK, 'X-A: 1\x002', 'Content-Length: 4'], 'case'),
  ],
  [
    'a bare CR in a value',
    'RFC 9112 section 2.2',
    answer([OK, 'X-A: 1\rSet-Cookie: a=b', 'Content-Length: 4'], 'case'),
  ],
  [
    'a bare LF in a value',
    'RFC 9112 section 2.2',
    answer([OK, 'X-A: 1\nSet-Cookie: a=b', 'Content-Length: 4'], 'case'),
  ],
  [
    'lines that a bare LF ends',
    'RFC 9112 section 2.2',
    answer([OK, 'Content-Length: 4'], 'case').replaceAll('\r\n', '\n'),
  ],
  [
    'a control character in the reason',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 200 O\x07K', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status of two digits',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 20 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status of four digits',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 2000 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status below 100',
    'RFC 9110 section 15',
    answer(['HTTP/1.1 099 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'another version',
    'RFC 9112 section 2.3',
    answer(['HTTP/2.0 200 OK', 'Content-Length: 4'], 'case'),
  ],
  ['no status line', 'RFC 9112 section 4', answer(['Content-Length: 4'], 'case')],
  ['noise', 'RFC 9112 section 4', '\x16\x03\x01\x02\x00\r\n\r\n'],
  [
    'a switch that nobody asked for',
    'RFC 9110 section 15.2.2',
    answer(['HTTP/1.1 101 Switching', 'Upgrade: x', 'Connection: Upgrade']),
  ],
  [
    'interim responses without end',
    'RFC 9110 section 15.2',
    answer(['HTTP/1.1 102 Processing']).repeat(100),
  ],
  ['a head without end', 'RFC 9110 section 5.4', `${OK}\r\n${'X: y\r\n'.repeat(20_000)}`],
];

const CUT: readonly (readonly [
  name: string,
  rule: string,
  bytes: string,
  then?: 'end' | 'reset',
])[] = [
  ['its length says', 'RFC 9112 section 8', answer([OK, 'Content-Length: 100'], 'case'), 'end'],
  [
    'its length says, by a reset',
    'RFC 9112 section 8',
    answer([OK, 'Content-Length: 100'], 'case'),
    'reset',
  ],
  [
    'its last chunk',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n'),
    'end',
  ],
  [
    'the end of a chunk',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '9\r\ncase'),
    'end',
  ],
  [
    'its trailers end',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\nX-A: 1\r\n'),
    'end',
  ],
  [
    'a chunk with a size that is none',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\nzz\r\n'),
  ],
  [
    'a chunk with a size beyond all bounds',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], `4\r\ncase\r\n${'f'.repeat(20)}\r\n`),
  ],
  [
    'a chunk that a bare LF ends',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n1\na'),
  ],
  [
    'a trailer that is folded',
    'RFC 9112 section 5.2',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\nX-A: 1\r\n 2\r\n\r\n'),
  ],
];

/** RFC 9112 sections 4 to 8, read from the upstream's side. */
export const RESPONSES: readonly ConformanceCase[] = [
  ...INVALID.map(([name, rule, bytes]) => ({
    ...{ name: `a response with ${name}`, rule, answer: { bytes }, ...BAD_GATEWAY },
  })),
  ...CUT.map(([name, rule, bytes, then]) => ({
    ...{ name: `a response that stops before ${name}`, rule, send: get(), upstream: {} },
    answer: then === undefined ? { bytes } : { bytes, then },
    client: { responses: ['broken' as const], connection: 'ends' as const },
  })),
  {
    name: 'a response that another one follows, for which nobody asked',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: {
      bytes: `${answer([OK, 'Content-Length: 4'], 'case')}${answer([OK, 'Content-Length: 6'], 'poison')}`,
    },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'a 204 with a body, which is none',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: { bytes: answer(['HTTP/1.1 204 None', 'Content-Length: 6'], 'poison') },
    client: {
      responses: [204],
      connection: 'stays',
      lacks: ['content-length', 'transfer-encoding'],
    },
    upstream: {},
  },
  {
    name: 'a 304 with a length, which is not that of a body',
    rule: 'RFC 9110 section 15.4.5',
    send: get(['If-None-Match: "a"']),
    answer: { bytes: answer(['HTTP/1.1 304 Same', 'Content-Length: 4000', 'ETag: "a"']) },
    client: { responses: [304], connection: 'stays', has: ['etag: "a"'] },
    upstream: {},
  },
  {
    name: 'a 205 without a body',
    rule: 'RFC 9110 section 15.3.6',
    send: get(),
    answer: { bytes: answer(['HTTP/1.1 205 Reset', 'Content-Length: 0']) },
    client: { responses: [205], body: '', connection: 'stays' },
    upstream: {},
  },
  {
    name: 'interim responses, which were not asked for',
    rule: 'RFC 9110 section 15.2',
    send: get(),
    answer: {
      bytes:
        answer(['HTTP/1.1 100 Continue']) +
        answer(['HTTP/1.1 103 Early Hints', 'Link: </a>']) +
        answer([OK, 'Content-Length: 4'], 'case'),
    },
    client: { ...SERVED, lacks: ['link'] },
    upstream: {},
  },
  {
    name: 'a body that the end of the connection ends',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: { bytes: answer([OK], 'case'), then: 'end' },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'chunks with extensions and trailers, framing among them',
    rule: 'RFC 9112 section 7.1.2',
    send: get(),
    answer: {
      bytes: answer(
        [OK, 'Transfer-Encoding: chunked', 'Trailer: X-Sum'],
        '4;a="b"\r\ncase\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\nX-Request-Id: theirs\r\n\r\n',
      ),
    },
    client: { ...SERVED, lacks: ['x-sum', 'trailer', 'content-length'] },
    upstream: {},
  },
  {
    name: 'a length twice, the same',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: { bytes: answer([OK, 'Content-Length: 4', 'Content-Length: 4'], 'case') },
    client: { ...SERVED, has: ['content-length: 4'] },
    upstream: {},
  },
  {
    name: 'fields that Connection names, and hop-by-hop ones',
    rule: 'RFC 9110 section 7.6.1',
    send: get(),
    answer: {
      bytes: answer(
        [
          ...[OK, 'Connection: X-Hop, Content-Language', 'X-Hop: 1', 'Content-Language: de'],
          ...['Keep-Alive: timeout=9', 'Proxy-Connection: close', 'Upgrade: h2c', 'TE: x'],
          ...['Proxy-Authenticate: Basic', 'Content-Length: 4'],
        ],
        'case',
      ),
    },
    client: {
      ...SERVED,
      lacks: [
        'x-hop',
        'content-language',
        'proxy-connection',
        'upgrade',
        'te',
        'proxy-authenticate',
      ],
    },
    upstream: {},
  },
  {
    name: 'a length that Connection names',
    rule: 'RFC 9110 section 7.6.1',
    send: get(),
    answer: { bytes: answer([OK, 'Connection: Content-Length', 'Content-Length: 4'], 'case') },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'fields of the gateway’s own names',
    rule: 'INTERFACE section 4',
    send: get(),
    answer: {
      bytes: answer(
        [
          ...[OK, 'X-Request-Id: theirs', 'x-request-id: again', 'X-Gateway-Error: internal_error'],
          ...['X-Gateway-Latency: 1e9', 'X-RateLimit-Remaining: -5', 'X-RateLimit-Limit: 0'],
          ...['X-RateLimit-Reset: 0', 'X-Gateway-Anything: 1', 'Content-Length: 4'],
        ],
        'case',
      ),
    },
    client: { ...SERVED, lacks: ['x-gateway-error', 'x-gateway-anything'] },
    upstream: {},
  },
  {
    name: 'fields of the gateway’s own names that Connection names',
    rule: 'RFC 9110 section 7.6.1',
    send: get(),
    answer: {
      bytes: answer(
        [OK, 'Connection: X-Request-Id, X-RateLimit-Remaining, close', 'Content-Length: 4'],
        'case',
      ),
    },
    client: SERVED,
    upstream: {},
  },
];
