import { describe, expect, it } from '@jest/globals';
import type { JwtAuth } from '../../routing-table/compiled-auth.ts';
import { NOW_MS, signAtNow, verifyAtNow } from '../../../test/jwt-verification.ts';
import { AUDIENCE, createIssuerKey, ISSUER, type Claims } from '@gateway/shared/test/token-issuer';
import { CLOCK_SKEW_SECONDS } from './verify-jwt.ts';

const nowSeconds = NOW_MS / 1000;

describe('a JWT that the issuer signed', () => {
  it.each(['RS256', 'ES256', 'PS384', 'EdDSA', 'Ed25519'] as const)(
    'that fulfils all requirements of the route is valid: %s',
    async (alg) => {
      const key = await createIssuerKey(alg);
      const token = await signAtNow(key, { sub: 'user-1' });
      const verification = await verifyAtNow([key], token, { algorithms: [alg] });
      expect(verification).toMatchObject({ kind: 'valid', payload: { sub: 'user-1' } });
    },
  );

  it.each<[string, Claims]>([
    ['of another issuer', { iss: `${ISSUER}x` }],
    ['of no issuer', { iss: undefined }],
    ['of a list of issuers', { iss: [ISSUER] }],
  ])('%s is refused', async (_case, claims) => {
    const key = await createIssuerKey();
    const verification = await verifyAtNow([key], await signAtNow(key, claims));
    expect(verification.kind).toBe('refused');
  });

  it.each<[string, Claims, string]>([
    ['for another audience', { aud: 'other' }, 'The token is for another audience.'],
    ['for a longer audience', { aud: `${AUDIENCE}x` }, 'The token is for another audience.'],
    ['for no audience', { aud: undefined }, 'The token lacks the claim aud.'],
    ['that never ends', { exp: undefined }, 'The token lacks the claim exp.'],
    [
      'whose exp is a string',
      { exp: String(nowSeconds + 60) },
      'The claim exp of the token is malformed.',
    ],
    ['that has expired', { exp: nowSeconds - CLOCK_SKEW_SECONDS }, 'The token has expired.'],
    [
      'that is not valid yet',
      { nbf: nowSeconds + CLOCK_SKEW_SECONDS + 1 },
      'The token is not valid yet.',
    ],
    [
      'with a subject that is no text',
      { sub: 7 },
      'The claim sub of the token must be a string of at most 255 characters.',
    ],
    [
      'with a subject that is too long',
      { sub: 'x'.repeat(256) },
      'The claim sub of the token must be a string of at most 255 characters.',
    ],
  ])('%s is refused with the reason', async (_case, claims, reason) => {
    const key = await createIssuerKey();
    expect(await verifyAtNow([key], await signAtNow(key, claims))).toEqual({
      kind: 'refused',
      reason,
    });
  });

  it.each<[string, Claims]>([
    ['for the second audience', { aud: 'second-audience' }],
    ['for several audiences', { aud: ['other', AUDIENCE] }],
    ['that expired within the skew', { exp: nowSeconds - CLOCK_SKEW_SECONDS + 1 }],
    ['that is valid within the skew', { nbf: nowSeconds + CLOCK_SKEW_SECONDS }],
    ['with the longest subject', { sub: 'x'.repeat(255) }],
    ['without a subject', { sub: undefined }],
  ])('%s is valid', async (_case, claims) => {
    const key = await createIssuerKey();
    expect(await verifyAtNow([key], await signAtNow(key, claims))).toMatchObject({ kind: 'valid' });
  });

  it.each<[string, JwtAuth['requiredClaims'][number], Claims, string | undefined]>([
    ['there', { name: 'tenant', values: undefined }, { tenant: 'a' }, undefined],
    ['missing', { name: 'tenant', values: undefined }, {}, 'lacks'],
    ['inherited, not its own', { name: 'toString', values: undefined }, {}, 'lacks'],
    [
      'one of the values',
      { name: 'tenant', values: new Set(['a', 'b']) },
      { tenant: 'b' },
      undefined,
    ],
    ['another value', { name: 'tenant', values: new Set(['a', 'b']) }, { tenant: 'c' }, 'is not'],
    [
      'the value in another type',
      { name: 'level', values: new Set([1]) },
      { level: '1' },
      'is not',
    ],
    ['a number', { name: 'level', values: new Set([1]) }, { level: 1 }, undefined],
    [
      'a boolean',
      { name: 'email_verified', values: new Set([true]) },
      { email_verified: true },
      undefined,
    ],
    [
      'a list that holds it',
      { name: 'groups', values: new Set(['ops']) },
      { groups: ['x', 'ops'] },
      undefined,
    ],
    [
      'a list that does not',
      { name: 'groups', values: new Set(['ops']) },
      { groups: ['ops2'] },
      'is not',
    ],
    ['an empty list', { name: 'groups', values: new Set(['ops']) }, { groups: [] }, 'is not'],
    [
      'a list within a list',
      { name: 'groups', values: new Set(['ops']) },
      { groups: [['ops']] },
      'is not',
    ],
    ['null', { name: 'tenant', values: new Set(['null']) }, { tenant: null }, 'is not'],
    [
      'a scope among others',
      { name: 'scope', values: new Set(['read']) },
      { scope: 'write read' },
      undefined,
    ],
    [
      'a part of a scope',
      { name: 'scope', values: new Set(['read']) },
      { scope: 'readonly' },
      'is not',
    ],
    [
      'a word of another claim',
      { name: 'name', values: new Set(['read']) },
      { name: 'write read' },
      'is not',
    ],
  ])('whose required claim is %s', async (_case, required, claims, refusal) => {
    const key = await createIssuerKey();
    const auth = { requiredClaims: [required] };
    const verification = await verifyAtNow([key], await signAtNow(key, claims), auth);
    if (refusal === undefined) expect(verification.kind).toBe('valid');
    else {
      expect(verification).toEqual({ kind: 'refused', reason: expect.stringContaining(refusal) });
    }
  });
});
