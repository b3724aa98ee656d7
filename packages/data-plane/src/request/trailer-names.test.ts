import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isReservedField } from '@gateway/shared/http/reserved-fields';
import { REQUEST_FIELDS } from './request-fields.ts';
import { NOT_IN_TRAILERS, trailerName } from './trailer-names.ts';

const LISTED = Object.values(NOT_IN_TRAILERS).flat();

/** A name in another spelling that some recipients read as the same field. */
const spelled = (name: string) =>
  fc
    .tuple(
      fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }),
      fc.constantFrom('-', '_', '--', '_-'),
    )
    .map(([upper, dash]) =>
      Array.from(name, (letter, index) => (upper[index] ? letter.toUpperCase() : letter))
        .join('')
        .replaceAll('-', dash),
    );

it('the names in docs/use/policies/trailers.md are those of the table', () => {
  const page = readFileSync(
    new URL('../../../../docs/use/policies/trailers.md', import.meta.url),
    'utf8',
  );
  const [table = ''] = /^\| what it decides [^]*?\n\n/m.exec(page) ?? [];
  const rows = table.trimEnd().split('\n').slice(2);
  const documented = rows.map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(documented).toEqual(Object.values(NOT_IN_TRAILERS));
});

describe('the names of trailers', () => {
  it('never pass if the table has them, in any spelling', () => {
    const name = fc.constantFrom(...LISTED.map((one) => one.replace('*', 'any'))).chain(spelled);
    fc.assert(fc.property(name, (one) => expect(trailerName(one).passes).toBe(false)));
  });

  it.each(Object.keys(REQUEST_FIELDS))(
    'never pass if the gateway acts on a request field of this name, or keeps it from the upstream: %s',
    (name) => {
      expect(trailerName(name).passes).toBe(false);
    },
  );

  it.each([
    ...['X-Gateway-Any', 'x-ratelimit-any', 'x-forwarded-any', 'Sec-WebSocket-Any', 'Expect'],
    ...['Via', 'X-Upstream-Request-Id', 'X-Upstream-RateLimit-Limit', 'WWW-Authenticate', 'Proxy'],
  ])('never pass if no route may rewrite a field of this name: %s', (name) => {
    expect(isReservedField(name, 'response')).toBe(true);
    expect(trailerName(name).passes).toBe(false);
  });

  it.each([
    ...['grpc-status', 'grpc-message', 'grpc-status-details-bin', 'my-metadata', 'my-key-bin'],
    ...['Server-Timing', 'Digest', 'Content-Digest', 'Repr-Digest', 'Content-MD5', 'ETag'],
    ...['X-Checksum', 'x-amz-trailer-signature', 'x-amz-checksum-crc32', 'Signature'],
  ])('pass if they decide nothing: %s', (name) => {
    expect(trailerName(name).passes).toBe(true);
  });
});
