import { BAD_GATEWAY, get, type ConformanceCase } from '../case.ts';

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
    'a length and a transfer coding',
    'RFC 9112 section 6.3',
    answer([OK, 'Content-Length: 4', 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\n\r\n'),
  ],
  [
    'a transfer coding that does not end in chunked',
    'RFC 9112 section 6.3',
    answer([OK, 'Transfer-Encoding: chunked, gzip'], ''),
  ],
  [
    'several transfer codings',
    'RFC 9112 section 6.1',
    answer([OK, 'Transfer-Encoding: gzip, chunked'], ''),
  ],
  [
    'the transfer coding identity',
    'RFC 9112 section 6.1',
    answer([OK, 'Transfer-Encoding: identity'], 'case'),
  ],
  ['an empty transfer coding', 'RFC 9112 section 6.1', answer([OK, 'Transfer-Encoding:'], 'case')],
  [
    'chunked in two lines',
    'RFC 9112 section 6.1',
    answer([OK, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  ],
  [
    'a transfer coding in HTTP/1.0',
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
    'lines ended by a bare LF',
    'RFC 9112 section 2.2',
    answer([OK, 'Content-Length: 4'], 'case').replaceAll('\r\n', '\n'),
  ],
  [
    'a control character in the reason',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 200 O\x07K', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status with two digits',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 20 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status with four digits',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 2000 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status below 100',
    'RFC 9110 section 15',
    answer(['HTTP/1.1 099 OK', 'Content-Length: 4'], 'case'),
  ],
  [
    'a status above 599',
    'RFC 9110 section 15',
    answer(['HTTP/1.1 600 X', 'Content-Length: 4'], 'case'),
  ],
  ['the status 999', 'RFC 9112 section 4', answer(['HTTP/1.1 999 X', 'Content-Length: 4'], 'case')],
  [
    'an empty line before it',
    'RFC 9112 section 2.2',
    `\r\n${answer([OK, 'Content-Length: 4'], 'case')}`,
  ],
  [
    'an interim response with a body',
    'RFC 9112 section 6.3',
    `${answer(['HTTP/1.1 103 Early', 'Content-Length: 4'], 'case')}${answer([OK, 'Content-Length: 4'], 'case')}`,
  ],
  [
    'an interim response with ambiguous framing',
    'RFC 9112 section 6.3',
    `${answer(['HTTP/1.1 103 Early', 'Content-Length: 4', 'Content-Length: 5'])}${answer([OK, 'Content-Length: 4'], 'case')}`,
  ],
  [
    'another version',
    'RFC 9112 section 2.3',
    answer(['HTTP/2.0 200 OK', 'Content-Length: 4'], 'case'),
  ],
  ['no status line', 'RFC 9112 section 4', answer(['Content-Length: 4'], 'case')],
  ['noise', 'RFC 9112 section 4', '\x16\x03\x01\x02\x00\r\n\r\n'],
  [
    'an unrequested switch of protocols',
    'RFC 9110 section 15.2.2',
    answer(['HTTP/1.1 101 Switching', 'Upgrade: x', 'Connection: Upgrade']),
  ],
  [
    'endless interim responses',
    'RFC 9110 section 15.2',
    answer(['HTTP/1.1 102 Processing']).repeat(101),
  ],
  ['an endless head', 'RFC 9110 section 5.4', `${OK}\r\n${'X: y\r\n'.repeat(20_000)}`],
];

const TRUNCATED: readonly (readonly [
  name: string,
  rule: string,
  bytes: string,
  then?: 'end' | 'reset',
])[] = [
  [
    'an end before its length',
    'RFC 9112 section 8',
    answer([OK, 'Content-Length: 100'], 'case'),
    'end',
  ],
  [
    'a reset before its length',
    'RFC 9112 section 8',
    answer([OK, 'Content-Length: 100'], 'case'),
    'reset',
  ],
  [
    'an end before its last chunk',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n'),
    'end',
  ],
  [
    'an end within a chunk',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '9\r\ncase'),
    'end',
  ],
  [
    'an end within its trailers',
    'RFC 9112 section 8',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\nX-A: 1\r\n'),
    'end',
  ],
  [
    'a chunk with an invalid size',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\nzz\r\n'),
  ],
  [
    'a chunk with a size that is too large',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], `4\r\ncase\r\n${'f'.repeat(20)}\r\n`),
  ],
  [
    'a chunk ended by a bare LF',
    'RFC 9112 section 7.1',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n1\na'),
  ],
  [
    'a folded trailer',
    'RFC 9112 section 5.2',
    answer([OK, 'Transfer-Encoding: chunked'], '4\r\ncase\r\n0\r\nX-A: 1\r\n 2\r\n\r\n'),
  ],
];

/** RFC 9112 sections 4 to 8: invalid responses, and responses that end early. */
export const INVALID_RESPONSES: readonly ConformanceCase[] = [
  ...INVALID.map(([name, rule, bytes]) => ({
    name: `a response with ${name}`,
    rule,
    answer: { bytes },
    ...BAD_GATEWAY,
  })),
  ...TRUNCATED.map(([name, rule, bytes, then]) => ({
    name: `a response whose body has ${name}`,
    rule,
    send: get(),
    upstream: {},
    answer: then === undefined ? { bytes } : { bytes, then },
    client: { responses: ['broken' as const], connection: 'ends' as const },
  })),
];
