import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequestContext } from '../request/context.ts';
import type { EnvironmentTable } from '../routing-table/routing-table.ts';
import { fingerprintOf, keyDigest } from './idempotency-scope.ts';

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

describe('the name of a key', () => {
  const nameIn = (environment: Partial<EnvironmentTable>) =>
    keyDigest(
      { environment, target: { routeName: 'orders' } } as unknown as RequestContext,
      'caller',
      'key',
    );

  it('stays when a route is deleted and created again, and differs in an environment that is', () => {
    const first = nameIn({ stateKey: 'production' });
    expect(nameIn({ stateKey: 'production', version: 9 })).toBe(first);
    expect(nameIn({ name: 'production', stateKey: 'env_01k2m8v4zj5r7c9e1g3p6t8w0x' })).not.toBe(
      first,
    );
    // Keys that an earlier release has stored are found.
    expect(first).toBe('trlGbp2TIVK9G0vHU5A6_uCuBdV2ZiNPoBuAS6p1i5E');
  });
});
