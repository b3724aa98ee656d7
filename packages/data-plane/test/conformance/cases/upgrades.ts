import {
  AUTHORIZED,
  get,
  HOST,
  post,
  REFUSED_FOR_GOOD,
  request,
  SERVED,
  SMUGGLED,
  TARGET,
  text,
  type ConformanceCase,
} from '../case.ts';

const WEB_SOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const SWITCH = 'HTTP/1.1 101 Switching Protocols';

const answer = (lines: readonly string[], body = ''): string =>
  `${lines.join('\r\n')}\r\n\r\n${body}`;

/** Invalid responses to a WebSocket upgrade. They are not passed on, and their connection is not used again. */
const INVALID: readonly (readonly [name: string, rule: string, bytes: string])[] = [
  [
    'a switch to another protocol',
    'RFC 6455 section 4.1',
    answer([SWITCH, 'Connection: Upgrade', 'Upgrade: h2c'], 'x'),
  ],
  [
    'a switch to several protocols',
    'RFC 6455 section 4.1',
    answer([SWITCH, 'Connection: Upgrade', 'Upgrade: websocket, h2c']),
  ],
  ['a switch without a protocol', 'RFC 9110 section 15.2.2', answer([SWITCH])],
  [
    'a switch with a line break in a field',
    'RFC 9112 section 2.2',
    answer([SWITCH, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Protocol: a\rb']),
  ],
  [
    'control characters in its reason',
    'RFC 9112 section 4',
    answer(['HTTP/1.1 403 \x1b[2J\x00', 'Content-Length: 2'], 'no'),
  ],
  ['an invalid status', 'RFC 9110 section 15', answer(['HTTP/1.1 777 X', 'Content-Length: 0'])],
  [
    'a length and a transfer coding',
    'RFC 9112 section 6.3',
    answer(
      ['HTTP/1.1 403 No', 'Transfer-Encoding: chunked', 'Content-Length: 3'],
      '2\r\nno\r\n0\r\n\r\n',
    ),
  ],
  [
    'a folded line',
    'RFC 9112 section 5.2',
    answer(['HTTP/1.1 403 No', 'X-A: 1', ' 2', 'Content-Length: 2'], 'no'),
  ],
  ['noise', 'RFC 9112 section 4', 'SSH-2.0-OpenSSH_9.9\r\n'],
];

/** RFC 9110 section 7.8, RFC 6455 section 4: requests that leave HTTP/1.1. */
export const UPGRADES: readonly ConformanceCase[] = [
  ...INVALID.map(([name, rule, bytes]) => ({
    name: `a WebSocket upgrade with the response: ${name}`,
    rule,
    send: get(WEB_SOCKET),
    answer: { bytes },
    client: { responses: [502], code: 'upstream_unavailable', connection: 'ends' } as const,
    upstream: { upgrades: true },
  })),
  {
    name: 'a WebSocket upgrade whose response is a 204 with a length',
    rule: 'RFC 9110 section 8.6',
    send: get(WEB_SOCKET),
    answer: { bytes: answer(['HTTP/1.1 204 None', 'Content-Length: 4']) },
    client: { responses: [204], connection: 'ends', lacks: ['content-length'] },
    upstream: { upgrades: true },
  },
  {
    name: 'a WebSocket upgrade with a chunked body, which is a plain request with a body',
    rule: 'RFC 9110 section 7.8',
    send:
      get([...WEB_SOCKET, 'Transfer-Encoding: chunked']) +
      '17\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n0\r\n\r\n',
    client: SERVED,
    upstream: { body: '0\r\n\r\nGET / HTTP/1.1\r\n\r\n', lacks: ['upgrade'] },
  },
  {
    name: 'a WebSocket upgrade with ambiguous framing',
    rule: 'RFC 9112 section 6.1',
    send: get([...WEB_SOCKET, 'Transfer-Encoding: chunked', 'Content-Length: 3']) + SMUGGLED,
    ...REFUSED_FOR_GOOD,
  },
  {
    name: 'WebSocket and another protocol, which is not a WebSocket upgrade',
    rule: 'RFC 9110 section 7.8',
    send: get([...WEB_SOCKET, 'Upgrade: h2c']),
    client: SERVED,
    upstream: {},
  },
  {
    name: 'another protocol and WebSocket, which is not a WebSocket upgrade',
    rule: 'RFC 9110 section 7.8',
    send: get(['Upgrade: h2c', ...WEB_SOCKET]),
    client: SERVED,
    upstream: {},
  },
  {
    name: 'a WebSocket upgrade over HTTP/1.0, which is a plain request',
    rule: 'RFC 9110 section 7.8',
    send: text(`GET ${TARGET} HTTP/1.0`, [HOST, AUTHORIZED, ...WEB_SOCKET]),
    client: { responses: [200], body: 'case', connection: 'ends' },
    upstream: { lacks: ['upgrade'] },
  },
  {
    name: 'a WebSocket upgrade with two equal Upgrade fields',
    rule: 'docs/understand/request-flow.md',
    send: get([...WEB_SOCKET, 'Upgrade: websocket']),
    answer: { bytes: answer(['HTTP/1.1 403 No', 'Content-Length: 2'], 'no') },
    client: { responses: [403], body: 'no', connection: 'ends' },
    upstream: { upgrades: true, once: ['upgrade'] },
  },
  {
    name: 'a WebSocket upgrade by POST, which is a plain POST',
    rule: 'RFC 6455 section 4.1',
    send: post([...WEB_SOCKET, 'Content-Length: 5'], 'hello'),
    client: SERVED,
    upstream: { method: 'POST', body: 'hello' },
  },
  {
    name: 'a WebSocket upgrade outside of the data path',
    rule: 'docs/use/failure-modes.md',
    send: text('GET /v1/services HTTP/1.1', [HOST, AUTHORIZED, ...WEB_SOCKET]),
    client: { responses: [404], code: 'not_found', connection: 'stays' },
    upstream: 'none',
  },
  {
    name: 'Connection with close and upgrade',
    rule: 'RFC 9110 section 7.6.1',
    send: get(['Connection: close, te, upgrade', 'TE: trailers', 'Upgrade: foo/2']),
    client: { responses: [200], body: 'case', connection: 'ends' },
    upstream: { takesTrailers: true },
  },
  ...[
    'PROXY TCP4 203.0.113.9 127.0.0.1 1 2',
    'SSH-2.0-OpenSSH_9.9',
    '\x16\x03\x01\x00\xa5\x01',
  ].map((line) => ({
    name: `another protocol before a request: ${JSON.stringify(line)}`,
    rule: 'RFC 9112 section 3',
    send: `${line}\r\n${get()}`,
    ...REFUSED_FOR_GOOD,
  })),
  {
    name: 'OPTIONS that the gateway answers itself, with a body that is a request',
    rule: 'RFC 9112 section 6',
    send: request(
      'OPTIONS',
      ['Max-Forwards: 0', 'Content-Length: 37'],
      'GET /smuggled HTTP/1.1\r\nHost: a.a\r\n\r\n',
    ),
    client: { responses: [204], connection: 'stays' },
    upstream: 'none',
  },
  {
    name: 'OPTIONS * with a body that is a request',
    rule: 'RFC 9110 section 9.3.7',
    send: text(
      'OPTIONS * HTTP/1.1',
      [HOST, AUTHORIZED, 'Content-Length: 37'],
      'GET /smuggled HTTP/1.1\r\nHost: a.a\r\n\r\n',
    ),
    client: { responses: [204], connection: 'stays' },
    upstream: 'none',
  },
  ...[
    ...['100-continuee', 'x100-continue', 'gzip', ''],
    ...['"100-continue"', '100-continue;q=1', 'x-100-continue'],
  ].map((value) => ({
    name: `an unknown expectation: ${JSON.stringify(value)}`,
    rule: 'RFC 9110 section 10.1.1',
    send: post([`Expect: ${value}`, 'Content-Length: 5'], 'hello'),
    client: SERVED,
    upstream: { body: 'hello', lacks: ['expect'] },
  })),
  {
    name: 'a target that is a WebSocket URI',
    rule: 'RFC 9112 section 3.2.2',
    send: text(`GET ws://gateway.test${TARGET} HTTP/1.1`, [HOST, AUTHORIZED, ...WEB_SOCKET]),
    client: { responses: [400], code: 'invalid_request', connection: 'stays' },
    upstream: 'none',
  },
];
