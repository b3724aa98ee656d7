import {
  AUTHORIZED,
  HOST,
  post,
  REFUSED_FOR_GOOD,
  SERVED,
  SMUGGLED,
  TARGET,
  text,
  type ConformanceCase,
} from '../case.ts';

const CHUNKS = '5\r\nhello\r\n0\r\n\r\n';

const CODINGS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  ['with a Content-Length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
  ['after a Content-Length', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
  ['with a Content-Length of zero', ['Transfer-Encoding: chunked', 'Content-Length: 0']],
  ['that does not end in chunked', ['Transfer-Encoding: chunked, gzip']],
  ['that ends in identity', ['Transfer-Encoding: chunked, identity']],
  ['of only gzip', ['Transfer-Encoding: gzip']],
  ['of only identity', ['Transfer-Encoding: identity']],
  ['of chunked twice', ['Transfer-Encoding: chunked, chunked']],
  ['in two lines', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
  ['in two lines, the last one unknown', ['Transfer-Encoding: chunked', 'Transfer-Encoding: x']],
  ['that is empty', ['Transfer-Encoding:']],
  ['that is empty, with a Content-Length', ['Transfer-Encoding:', 'Content-Length: 15']],
  ['of only a comma', ['Transfer-Encoding: ,']],
  ['with a comma before', ['Transfer-Encoding: , chunked']],
  ['with a comma after', ['Transfer-Encoding: chunked,']],
  ['of a name that ends with chunked', ['Transfer-Encoding: xchunked']],
  ['of a name that begins with chunked', ['Transfer-Encoding: chunkedx']],
  ['with a parameter', ['Transfer-Encoding: chunked;q=0.5']],
  ['in quotes', ['Transfer-Encoding: "chunked"']],
  ['in single quotes', ["Transfer-Encoding: 'chunked'"]],
  ['with a vertical tab before it', ['Transfer-Encoding: \x0bchunked']],
  ['with a form feed after it', ['Transfer-Encoding: chunked\x0c']],
  ['with a NUL after it', ['Transfer-Encoding: chunked\x00']],
  ['with a no-break space', ['Transfer-Encoding: \xa0chunked']],
  ['with a bare CR inside', ['Transfer-Encoding: chunk\red']],
  ['on a folded line', ['Transfer-Encoding:', ' chunked']],
  ['with a space before its colon', ['Transfer-Encoding : chunked']],
  ['with a tab before its colon', ['Transfer-Encoding\t: chunked']],
  ['on a line that begins with a space', [' Transfer-Encoding: chunked']],
  ['after a bare LF', ['X-A: 1\nTransfer-Encoding: chunked']],
  ['after a bare CR', ['X-A: 1\rTransfer-Encoding: chunked']],
];

/** The end of the body is certain, but the gateway does not decode it. */
const NOT_IMPLEMENTED = {
  client: { responses: [501], code: 'not_implemented', connection: 'ends' },
  upstream: 'none',
} as const satisfies Partial<ConformanceCase>;

const OTHER_CODINGS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  ['of several codings', ['Transfer-Encoding: gzip, chunked']],
  ['of several codings without a space', ['Transfer-Encoding: gzip,chunked']],
  ['of identity before chunked', ['Transfer-Encoding: identity, chunked']],
  ['in two lines, the first one unknown', ['Transfer-Encoding: x', 'Transfer-Encoding: chunked']],
];

/** RFC 9112 section 6.1: chunked, last, once, in HTTP/1.1, and never together with a length. */
export const TRANSFER_ENCODING: readonly ConformanceCase[] = [
  ...CODINGS.map(([name, lines]) => ({
    name: `a Transfer-Encoding ${name}`,
    rule: 'RFC 9112 section 6.1',
    send: post(lines, CHUNKS + SMUGGLED),
    ...REFUSED_FOR_GOOD,
  })),
  ...OTHER_CODINGS.map(([name, lines]) => ({
    name: `a Transfer-Encoding ${name}`,
    rule: 'RFC 9112 section 6.1',
    send: post(lines, CHUNKS + SMUGGLED),
    ...NOT_IMPLEMENTED,
  })),
  {
    name: 'a Transfer-Encoding of several codings in HTTP/1.0',
    rule: 'RFC 9112 section 6.1',
    send: text(
      `POST ${TARGET} HTTP/1.0`,
      [HOST, AUTHORIZED, 'Transfer-Encoding: gzip, chunked'],
      CHUNKS + SMUGGLED,
    ),
    ...REFUSED_FOR_GOOD,
  },
  {
    name: 'a Transfer-Encoding of several codings with a Content-Length',
    rule: 'RFC 9112 section 6.1',
    send: post(['Transfer-Encoding: gzip, chunked', 'Content-Length: 5'], CHUNKS + SMUGGLED),
    ...REFUSED_FOR_GOOD,
  },
  {
    name: 'a Transfer-Encoding in HTTP/1.0',
    rule: 'RFC 9112 section 6.1',
    send: text(
      `POST ${TARGET} HTTP/1.0`,
      [HOST, AUTHORIZED, 'Connection: keep-alive', 'Transfer-Encoding: chunked'],
      CHUNKS + SMUGGLED,
    ),
    ...REFUSED_FOR_GOOD,
  },
  {
    name: 'a Transfer-Encoding in upper case',
    rule: 'RFC 9112 section 7',
    send: post(['TRANSFER-ENCODING: CHUNKED'], CHUNKS),
    client: SERVED,
    upstream: { body: 'hello', lacks: ['content-length'] },
  },
  {
    name: 'a Transfer-Encoding listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: post(['Connection: Transfer-Encoding', 'Transfer-Encoding: chunked'], CHUNKS),
    client: SERVED,
    upstream: { body: 'hello' },
  },
  {
    name: 'a Content-Length listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: post(['Connection: Content-Length', 'Content-Length: 5'], 'hello'),
    client: SERVED,
    upstream: { body: 'hello', has: ['content-length: 5'] },
  },
  {
    name: 'a Transfer-Encoding outside of the data path',
    rule: 'RFC 9112 section 6.1',
    send: text(
      'POST /elsewhere HTTP/1.1',
      [HOST, 'Transfer-Encoding: gzip, chunked'],
      CHUNKS + SMUGGLED,
    ),
    ...NOT_IMPLEMENTED,
  },
];
