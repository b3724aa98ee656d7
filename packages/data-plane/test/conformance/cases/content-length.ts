import { post, REFUSED_FOR_GOOD, SERVED, SMUGGLED, type ConformanceCase } from '../case.ts';

const LENGTHS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  ['twice, different', ['Content-Length: 5', 'Content-Length: 6']],
  ['twice in one line', ['Content-Length: 5, 5']],
  ['twice in one line, different', ['Content-Length: 5, 6']],
  ['negative', ['Content-Length: -5']],
  ['with a plus', ['Content-Length: +5']],
  ['in hex', ['Content-Length: 0x5']],
  ['with a fraction', ['Content-Length: 5.0']],
  ['with an exponent', ['Content-Length: 5e0']],
  ['with a space inside', ['Content-Length: 1 5']],
  ['empty', ['Content-Length:']],
  ['with letters', ['Content-Length: five']],
  ['in quotes', ['Content-Length: "5"']],
  ['beyond 64 bits', ['Content-Length: 18446744073709551621']],
  ['with forty digits', [`Content-Length: ${'9'.repeat(40)}`]],
  ['with a comma at its end', ['Content-Length: 5,']],
  ['with a vertical tab before it', ['Content-Length: \x0b5']],
  ['with a NUL after it', ['Content-Length: 5\x00']],
];

/** RFC 9112 section 6.3 and RFC 9110 section 8.6: there is one length, in decimal digits. */
export const CONTENT_LENGTH: readonly ConformanceCase[] = [
  ...LENGTHS.map(([name, lines]) => ({
    name: `a Content-Length ${name}`,
    rule: 'RFC 9112 section 6.3',
    send: post(lines, `hello${SMUGGLED}`),
    ...REFUSED_FOR_GOOD,
  })),
  {
    name: 'a Content-Length with leading zeros',
    rule: 'RFC 9110 section 8.6',
    send: post(['Content-Length: 005'], 'hello'),
    client: SERVED,
    upstream: { body: 'hello', has: ['content-length: 5'], lacks: ['transfer-encoding'] },
  },
  {
    name: 'a Content-Length with spaces around it',
    rule: 'RFC 9112 section 5.1',
    send: post(['Content-Length: \t5 \t'], 'hello'),
    client: SERVED,
    upstream: { body: 'hello', has: ['content-length: 5'] },
  },
  {
    name: 'a Content-Length of zero before another request',
    rule: 'RFC 9112 section 6.3',
    send: post(['Content-Length: 0']),
    client: SERVED,
    upstream: { body: '', has: ['content-length: 0'] },
  },
  {
    name: 'a POST without a body',
    rule: 'RFC 9110 section 8.6',
    send: post([]),
    client: SERVED,
    upstream: { body: '', has: ['content-length: 0'], lacks: ['transfer-encoding'] },
  },
  {
    name: 'a Content-Length twice, the same',
    rule: 'RFC 9112 section 6.3',
    send: post(['Content-Length: 5', 'content-length: 5'], 'hello'),
    client: SERVED,
    upstream: { body: 'hello', has: ['content-length: 5'], once: ['content-length'] },
  },
  {
    name: 'a body that is a request',
    rule: 'RFC 9112 section 6',
    send: post(
      [`Content-Length: ${SMUGGLED.length + 36}`],
      SMUGGLED.replace('{token}', 'x'.repeat(43)),
    ),
    client: SERVED,
    upstream: { body: SMUGGLED.replace('{token}', 'x'.repeat(43)) },
  },
  {
    name: 'Content_Length, which is not framing',
    rule: 'RFC 9112 section 6.3',
    send: post(['Content_Length: 5', 'Content-Length: 2'], 'hi'),
    client: SERVED,
    upstream: { body: 'hi', has: ['content-length: 2'] },
  },
  {
    name: 'a Content-Length above the limit of the route',
    rule: 'RFC 9110 section 15.5.14',
    send: post(['Content-Length: 9007199254740993'], 'hello'),
    client: { responses: [413], code: 'payload_too_large', connection: 'ends' },
    upstream: 'none',
  },
  {
    name: 'a Content-Length of 64 bits',
    rule: 'RFC 9110 section 15.5.14',
    send: post(['Content-Length: 18446744073709551615'], 'hello'),
    client: { responses: [413], code: 'payload_too_large', connection: 'ends' },
    upstream: 'none',
  },
];
