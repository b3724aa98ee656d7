import type { RandomRequest } from './random-requests.ts';

/** Fields of the connection (RFC 9113 section 8.2.2). */
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'transfer-encoding',
];

/**
 * Requests that HTTP/2 calls malformed and HTTP/1.1 does not: over HTTP/2 the stream is reset, over HTTP/1.1 the request
 * is served or refused by what it means there. Everything else has the same result over both; what both call malformed is
 * reset over HTTP/2 and gets 400 over HTTP/1.1. docs/run/security.md has this list.
 */
export const INTENDED_DIFFERENCES: Readonly<Record<string, (request: RandomRequest) => boolean>> = {
  'a space around a value': ({ fields }) => fields.some(([, value]) => /^[ \t]|[ \t]$/.test(value)),
  'upper case in a name': ({ fields }) => fields.some(([name]) => /[A-Z]/.test(name)),
  'a field of the connection': ({ fields }) =>
    fields.some(([name]) => OF_A_CONNECTION.includes(name)),
  'a TE other than trailers': ({ fields }) =>
    fields.some(([name, value]) => name === 'te' && value !== 'trailers'),
  'a length that is sent twice': ({ body, lengths }) => body !== null && lengths > 1,
};
