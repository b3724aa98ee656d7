import { get, SERVED, type ConformanceCase } from '../case.ts';

const answer = (lines: readonly string[], body = ''): string =>
  `${lines.join('\r\n')}\r\n\r\n${body}`;
const OK = 'HTTP/1.1 200 OK';

/** RFC 9112 sections 4 to 8: valid responses of an upstream. */
export const RESPONSES: readonly ConformanceCase[] = [
  {
    name: 'a response followed by an unrequested one',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: {
      bytes: `${answer([OK, 'Content-Length: 4'], 'case')}${answer([OK, 'Content-Length: 6'], 'poison')}`,
    },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'a 204 with a body',
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
    name: 'a 304 with a length',
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
    name: 'a 304 with chunks',
    rule: 'RFC 9112 section 6.3',
    send: get(['If-None-Match: "a"']),
    answer: {
      bytes: answer(
        ['HTTP/1.1 304 Same', 'Transfer-Encoding: chunked'],
        '6\r\npoison\r\n0\r\n\r\n',
      ),
    },
    client: { responses: [304], connection: 'stays', lacks: ['transfer-encoding'] },
    upstream: {},
  },
  {
    name: 'the largest status',
    rule: 'RFC 9110 section 15',
    send: get(),
    answer: { bytes: answer(['HTTP/1.1 599 Odd', 'Content-Length: 4'], 'case') },
    client: { responses: [599], body: 'case', connection: 'stays' },
    upstream: {},
  },
  {
    name: 'HTTP/2 settings, which are dropped',
    rule: 'RFC 9113 section 8.2.2',
    send: get(),
    answer: { bytes: answer([OK, 'HTTP2-Settings: AAMAAABk', 'Content-Length: 4'], 'case') },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'unrequested interim responses',
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
    name: 'a body that ends with the connection',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: { bytes: answer([OK], 'case'), then: 'end' },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'chunks with extensions and trailers, also framing fields',
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
    name: 'the same length twice',
    rule: 'RFC 9112 section 6.3',
    send: get(),
    answer: { bytes: answer([OK, 'Content-Length: 4', 'Content-Length: 4'], 'case') },
    client: { ...SERVED, has: ['content-length: 4'] },
    upstream: {},
  },
  {
    name: 'hop-by-hop fields and fields listed in Connection',
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
    name: 'a length listed in Connection',
    rule: 'RFC 9110 section 7.6.1',
    send: get(),
    answer: { bytes: answer([OK, 'Connection: Content-Length', 'Content-Length: 4'], 'case') },
    client: SERVED,
    upstream: {},
  },
  {
    name: 'fields with names of the gateway',
    rule: 'docs/understand/request-flow.md',
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
    name: 'fields with names of the gateway listed in Connection',
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
