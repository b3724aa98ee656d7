import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestContext } from '../request/context.ts';
import { fingerprintOf } from './idempotency-scope.ts';

const ctx = {
  method: 'POST',
  target: { path: '/v1/proxy/orders', query: '' },
} as unknown as RequestContext;

describe('the fingerprint of a request', () => {
  it('is the same for the same bytes, in whatever way the body was read', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), (bytes) => {
        const body = Buffer.from(bytes);
        expect(fingerprintOf(ctx, body.toString('latin1'))).toBe(fingerprintOf(ctx, body));
      }),
    );
  });

  it('differs for another body', () => {
    const bodies = [null, 'a', 'b', '\u00e9', Buffer.from('\u00e9', 'utf8')];
    expect(new Set(bodies.map((body) => fingerprintOf(ctx, body))).size).toBe(bodies.length);
  });
});
