import { NOT_IN_TRAILERS } from '../../../src/request/trailer-names.ts';
import { get as getText, SERVED, type ConformanceCase } from '../case.ts';
import {
  changed,
  get,
  MALFORMED,
  post,
  RESET,
  served,
  type Answered,
  type Fields,
  type FieldsCase,
} from '../fields-case.ts';
import type { ScriptedAnswer } from '../recording-upstream.ts';

const TE = ['te', 'trailers'] as const;
const RULE = 'RFC 9110 section 6.5.1';
const DOCS = 'docs/use/policies/trailers.md';

/** A response in chunks with these trailers. */
function answer(trailers: Fields, body = 'case', lines: readonly string[] = []): ScriptedAnswer {
  const head = ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', ...lines].join('\r\n');
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  const after = trailers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return { bytes: `${head}\r\n\r\n${chunk}0\r\n${after}\r\n` };
}

/** The response reaches a caller that takes trailers, with these. */
function withTrailers(
  trailers: readonly string[],
  more: Partial<Answered['client']> = {},
): Answered {
  return {
    client: { responses: [200], body: 'case', connection: 'stays', trailers, ...more },
    upstream: { takesTrailers: true },
  };
}

/** Those that no HTTP/2 message may have, and those that a request of HTTP/1.1 may not have. */
const MALFORMED_TRAILERS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
  'content-length',
]);

const LISTED = Object.entries(NOT_IN_TRAILERS).map(([kind, names]) => ({
  kind,
  // The only value of TE that HTTP/2 has.
  fields: names.map((name) => [name.replace('*', 'any'), 'trailers'] as const),
}));

/** RFC 9110 section 6.5: fields after a body, of requests and of responses. */
export const TRAILERS: readonly (FieldsCase | ConformanceCase)[] = [
  {
    name: 'trailers of a response, for a caller that takes them',
    rule: RULE,
    fields: get(TE),
    answer: answer([
      ['X-Sum', '7'],
      ['grpc-status', '0'],
      ['x-key-bin', 'AAE='],
    ]),
    result: withTrailers(['x-sum: 7', 'grpc-status: 0', 'x-key-bin: AAE=']),
    http1: 'same',
  },
  {
    name: 'trailers of a response without a byte of a body',
    rule: RULE,
    fields: get(TE),
    answer: answer([['grpc-status', '5']], ''),
    result: withTrailers(['grpc-status: 5'], { body: '' }),
    http1: 'same',
  },
  {
    name: 'trailers of a response, for a caller that does not take them',
    rule: 'RFC 9110 section 10.1.4',
    fields: get(),
    answer: answer([['X-Sum', '7']], 'case', ['Trailer: X-Sum']),
    result: { client: { ...SERVED, lacks: ['trailer'] }, upstream: { lacks: ['te'] } },
    http1: 'same',
  },
  {
    name: 'TE with trailers beside a coding, which Connection names',
    rule: 'RFC 9110 section 10.1.4',
    send: getText(['TE: deflate;q=0.5, trailers', 'Connection: TE']),
    answer: answer([['X-Sum', '7']]),
    client: { ...SERVED, trailers: ['x-sum: 7'] },
    upstream: { takesTrailers: true },
  },
  {
    name: 'TE of a caller of HTTP/1.0',
    rule: 'RFC 9112 section 7.1',
    send: getText([`TE: trailers`]).replace('HTTP/1.1', 'HTTP/1.0'),
    answer: answer([['X-Sum', '7']], 'case', ['Trailer: X-Sum']),
    client: { ...SERVED, lacks: ['trailer'], connection: 'ends' },
    upstream: { lacks: ['te'] },
  },
  {
    name: 'Trailer of a response, with the names that pass',
    rule: 'RFC 9110 section 6.6.2',
    fields: get(TE),
    answer: answer([['X-Sum', '7']], 'case', ['Trailer: X-Sum, Set-Cookie, Content-Length']),
    result: withTrailers(['x-sum: 7'], { has: ['trailer: X-Sum'] }),
    http1: 'same',
  },
  {
    name: 'Trailer of a response to HEAD',
    rule: 'RFC 9110 section 6.6.2',
    fields: changed({ ':method': 'HEAD' }, TE),
    answer: {
      bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n',
    },
    result: withTrailers([], { body: '', lacks: ['trailer'] }),
    http1: 'same',
  },
  {
    name: 'Trailer of a response with the status 204',
    rule: 'RFC 9110 section 6.6.2',
    fields: get(TE),
    answer: { bytes: 'HTTP/1.1 204 No Content\r\nTrailer: X-Sum\r\n\r\n' },
    result: withTrailers([], { responses: [204], body: '', lacks: ['trailer'] }),
    http1: 'same',
  },
  {
    name: 'a field of a response that Connection names, in its trailers',
    rule: 'RFC 9110 section 7.6.1',
    fields: get(TE),
    answer: answer(
      [
        ['X-Named', '1'],
        ['X-Sum', '7'],
      ],
      'case',
      ['Connection: x-named'],
    ),
    result: withTrailers(['x-sum: 7']),
    http1: 'same',
  },
  ...LISTED.map(({ kind, fields }): FieldsCase => ({
    name: `trailers of a response that decide something (${kind}), which are dropped`,
    rule: DOCS,
    fields: get(TE),
    answer: answer([...fields, ['X-Sum', '7']]),
    result: withTrailers(['x-sum: 7']),
    http1: 'same',
  })),
  ...(
    [
      ['larger than a head may be', [['X-Sum', '7'.repeat(70_000)]]],
      [
        'more than the lines of a head',
        Array.from({ length: 1001 }, () => ['X-Sum', '7'] as const),
      ],
      ['malformed', [['X Sum', '7']]],
    ] as const
  ).map(([what, fields]): FieldsCase => ({
    name: `trailers of a response that are ${what}`,
    rule: DOCS,
    fields: get(TE),
    answer: answer(fields),
    result: {
      client: { responses: ['broken'], connection: 'ends' },
      upstream: { takesTrailers: true },
    },
    http1: 'same',
  })),
  {
    name: 'trailers of a request',
    rule: RULE,
    fields: post(['trailer', 'x-sum']),
    body: ['hello'],
    trailers: [
      ['x-sum', '7'],
      ['x-key-bin', 'AAE='],
    ],
    result: served({
      body: 'hello',
      has: ['trailer: x-sum'],
      trailers: ['x-sum: 7', 'x-key-bin: AAE='],
    }),
    http1: 'same',
  },
  {
    name: 'trailers of a request without a byte of a body',
    rule: RULE,
    fields: post(),
    body: [],
    trailers: [['x-sum', '7']],
    result: served({ body: '', trailers: ['x-sum: 7'] }),
    http1: 'same',
  },
  {
    name: 'Trailer of a request, with names that do not pass',
    rule: 'RFC 9110 section 6.6.2',
    fields: post(['trailer', 'authorization, x-request-id, set-cookie']),
    body: ['hello'],
    result: served({ body: 'hello', lacks: ['trailer'] }),
    http1: 'same',
  },
  ...LISTED.flatMap(({ kind, fields }) =>
    (['', ', with underscores'] as const).map((spelling): FieldsCase => {
      const passed = fields.filter(([name]) => !MALFORMED_TRAILERS.has(name));
      const spelled = passed.map(([name, value]) => [name.replaceAll('-', '_'), value] as const);
      return {
        name: `trailers of a request that decide something (${kind})${spelling}, which are dropped`,
        rule: DOCS,
        fields: post(),
        body: ['hello'],
        trailers: [...(spelling === '' ? passed : spelled), ['x-sum', '7']],
        result: served({ body: 'hello', trailers: ['x-sum: 7'] }),
        http1: 'same',
      };
    }),
  ),
  {
    name: 'trailers of a request that are more than the lines of a head',
    rule: DOCS,
    fields: post(),
    body: ['hello'],
    trailers: Array.from({ length: 1001 }, () => ['x-sum', '7'] as const),
    result: RESET,
    http1: MALFORMED,
  },
];
