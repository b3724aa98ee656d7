import fc from 'fast-check';
import { AUTHORIZED, HOST, text } from './case.ts';

/** Bytes that have a meaning for some parser. */
const PIECES = [
  ...[
    '\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    '\0',
    ':',
    ';',
    ',',
    '0',
    '1',
    'f',
    '-',
    '+',
    '#',
    '%',
    '\x0b',
  ],
  ...['\xa0', '\xff', '\r\n\r\n', '\r\n ', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0', 'chunked', 'gzip, '],
  ...[
    'Content-Length: 3\r\n',
    'Content-Length: 0\r\n',
    'Content-Length: 99\r\n',
    '18446744073709551617',
  ],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'transfer-encoding:\r\n',
  ],
  ...['Transfer_Encoding: chunked\r\n', 'Expect: 100-continue\r\n', 'Connection: close\r\n'],
  ...['Connection: keep-alive, X-Marker\r\n', 'Host: other.test\r\n', 'Upgrade: websocket\r\n'],
  ...['0\r\n\r\n', '5\r\n', '5;a="\r\n', 'GET / HTTP/1.1\r\n\r\n', '/../', '%2e%2e', '?', '*'],
] as const;

interface Mutation {
  readonly kind: 'insert' | 'replace' | 'delete' | 'repeat';
  /** The position, in 1/10 000 of the whole. */
  readonly at: number;
  readonly length: number;
  readonly piece: string;
}

export interface Mutated {
  readonly base: number;
  readonly mutations: readonly Mutation[];
}

/** A well-formed request of one of three forms, and the mutations of its bytes. */
export const MUTATED: fc.Arbitrary<Mutated> = fc.record({
  base: fc.integer({ min: 0, max: 2 }),
  mutations: fc.array(
    fc.record({
      kind: fc.constantFrom('insert', 'insert', 'replace', 'delete', 'repeat'),
      at: fc.integer({ min: 0, max: 9_999 }),
      length: fc.integer({ min: 1, max: 12 }),
      piece: fc.constantFrom(...PIECES),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

/** The bytes of a run. Its path, header and body contain `mark`. */
export function mutatedText({ base, mutations }: Mutated, mark: string, token: string): string {
  const bodies = [
    [['Content-Length: 20'], `body of ${mark}`.padEnd(20, '.')],
    [['Transfer-Encoding: chunked'], `14\r\n${`body of ${mark}`.padEnd(20, '.')}\r\n0\r\n\r\n`],
    [[], ''],
  ] as const;
  const [framing, body] = bodies[base] ?? bodies[2];
  const lines = [HOST, AUTHORIZED.replace('{token}', token), `X-Marker: ${mark}`, ...framing];
  const method = base === 2 ? 'GET' : 'POST';
  let mutated = text(`${method} /v1/proxy/test/${mark} HTTP/1.1`, lines, body);
  for (const { kind, at, length, piece } of mutations) {
    const from = Math.floor((mutated.length * at) / 10_000);
    const cut = mutated.slice(from, from + length);
    const put = { insert: piece + cut, replace: piece, delete: '', repeat: cut + cut }[kind];
    mutated = mutated.slice(0, from) + put + mutated.slice(from + length);
  }
  return mutated;
}
