import { post, SERVED, SMUGGLED, type ConformanceCase } from '../case.ts';

/** RFC 9112 section 6.3 and RFC 9110 section 8.6: there is one length, in decimal digits. */
export const CONTENT_LENGTH: readonly ConformanceCase[] = [
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
