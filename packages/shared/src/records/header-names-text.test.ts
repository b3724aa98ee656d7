import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { headerNamesOf, headerNamesText } from './header-names-text.ts';

it('is short for common names, and keeps every name and their order', () => {
  expect(headerNamesText(['host', 'user-agent', 'x-mine', 'a', 'accept', 'cookie'])).toBe(
    'AB x-mine a CK',
  );
  const name = fc.oneof(
    fc.constantFrom('host', 'authorization', 'cookie', 'sec-fetch-mode', 'x-request-id'),
    fc.stringMatching(/^[a-z0-9!#$%&'*+.^_`|~[\]-]{1,12}$/),
  );
  fc.assert(
    fc.property(fc.array(name, { maxLength: 12 }), (names) => {
      expect(headerNamesOf(headerNamesText(names))).toEqual(names);
    }),
  );
});

it('stays readable, because it is stored', () => {
  expect(headerNamesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ').join(' ')).toBe(
    'host user-agent accept accept-encoding accept-language authorization connection content-type content-length ' +
      'transfer-encoding cookie origin referer via x-forwarded-for x-forwarded-proto x-forwarded-host x-request-id ' +
      'x-api-key traceparent tracestate idempotency-key cache-control x-gateway-environment x-gateway-version ' +
      'sec-fetch-mode',
  );
});
