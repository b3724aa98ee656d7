import { expect, test } from '@jest/globals';
import { decodeEntry, encodeEntry, encodeHead, type EntryHead } from './entry.ts';

const HEAD: EntryHead = {
  state: 'claimed',
  fingerprint: 'a'.repeat(64),
  request_id: 'req_1',
  claim_id: 'claim-1',
  expires_at_ms: 2,
  lease_until_ms: 1,
};

test('an entry is read back, with its format', () => {
  const headText = encodeHead(HEAD);
  const entry = decodeEntry(encodeEntry(headText, Buffer.from('response')));
  expect(entry.head).toEqual({ format: 1, ...HEAD });
  expect(entry.headText).toBe(headText);
  expect(Buffer.from(entry.sealed).toString()).toBe('response');
});

const withHead = (head: object) => encodeEntry(JSON.stringify(head));

test.each<[string, Uint8Array, string]>([
  ['an unknown format', withHead({ ...HEAD, format: 2 }), 'format must be 1, not 2'],
  ['no format', withHead(HEAD), 'format must be 1'],
  ['an unknown state', withHead({ ...HEAD, format: 1, state: 'lost' }), 'invalid head: state '],
  ['a head that is not JSON', encodeEntry('{'), 'invalid head: it is not JSON'],
  ['a length beyond its end', Buffer.from([0, 0, 0, 9]), 'the entry is truncated'],
  ['no length', Buffer.from([0, 0]), 'the entry is truncated'],
])('an entry with %s is refused', (_what, value, message) => {
  expect(() => decodeEntry(value)).toThrow(message);
});
