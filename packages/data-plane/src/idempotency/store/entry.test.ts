import { expect, test } from '@jest/globals';
import { z } from 'zod';
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

test('an entry of a repeatable request is readable for data planes that do not know the field', () => {
  const done = {
    ...{ state: 'done' as const, fingerprint: 'a'.repeat(64), request_id: 'req_1' },
    ...{ claim_id: 'claim-1', expires_at_ms: 2, key_id: 'k1', body_kept: true, parts: 0 },
  };
  // What readers checked before the field existed.
  const former = z.object({
    format: z.literal(1),
    state: z.literal('done'),
    fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
    request_id: z.string().max(64),
    claim_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    expires_at_ms: z.number(),
    key_id: z.string().max(32),
    body_kept: z.boolean(),
    parts: z.int().min(0).max(256),
  });
  const headText = encodeHead({ ...done, repeatable_status: 429 });
  expect(former.parse(JSON.parse(headText))).toEqual({ format: 1, ...done });
  const formerText = JSON.stringify({ format: 1, ...done });
  expect(decodeEntry(encodeEntry(formerText)).head).toEqual({ format: 1, ...done });
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
