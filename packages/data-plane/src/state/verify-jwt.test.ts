import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { exportSPKI } from 'jose';
import type { JwtAuth } from '../table/routing-table.ts';
import {
  AUDIENCE,
  createIssuerKey,
  ISSUER,
  signToken,
  type Claims,
  type IssuerKey,
  type TokenOptions,
} from '../testing/token-issuer.ts';
import { parseKeySet } from './key-set.ts';
import { CLOCK_SKEW_SECONDS, NOT_VALID, verifyJwt, type Verification } from './verify-jwt.ts';

const NOW_MS = Date.UTC(2030, 0, 1);
const NOW_SECONDS = NOW_MS / 1000;

const AUTH: JwtAuth = {
  type: 'jwt',
  issuer: ISSUER,
  audience: [AUDIENCE, 'second-audience'],
  jwksUrl: 'http://issuer.test/jwks.json',
  algorithms: ['RS256', 'ES256'],
  requiredClaims: [],
};

async function verify(
  keys: readonly IssuerKey[],
  token: string,
  auth: Partial<JwtAuth> = {},
): Promise<Verification> {
  const set = parseKeySet(JSON.stringify({ keys: keys.map((key) => key.jwk) }));
  if (set === undefined) throw new Error('the key set was refused');
  return verifyJwt(token, { ...AUTH, ...auth }, set, NOW_MS);
}

const sign = (key: IssuerKey, claims: Claims = {}, options: TokenOptions = {}) =>
  signToken(key, claims, { nowMs: NOW_MS, ...options });

/** The token with its header replaced, under the signature that it had. */
function withHeader(token: string, header: object): string {
  const [, payload = '', signature = ''] = token.split('.');
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`;
}

describe('a JWT', () => {
  it.each(['RS256', 'ES256', 'PS384', 'EdDSA'] as const)(
    'that holds all that the route asks for is valid: %s',
    async (alg) => {
      const key = await createIssuerKey(alg);
      const token = await sign(key, { sub: 'user-1' });
      const verification = await verify([key], token, { algorithms: [alg] });
      expect(verification).toMatchObject({ kind: 'valid', payload: { sub: 'user-1' } });
    },
  );

  it.each<[string, Claims, string]>([
    ['of another issuer', { iss: `${ISSUER}x` }, 'The token is of another issuer.'],
    ['of no issuer', { iss: undefined }, 'The token lacks the claim iss.'],
    ['of a list of issuers', { iss: [ISSUER] }, 'The token is of another issuer.'],
    ['for another audience', { aud: 'other' }, 'The token is meant for another audience.'],
    ['for a longer audience', { aud: `${AUDIENCE}x` }, 'The token is meant for another audience.'],
    ['for no audience', { aud: undefined }, 'The token lacks the claim aud.'],
    ['that never ends', { exp: undefined }, 'The token lacks the claim exp.'],
    [
      'whose end is a text',
      { exp: String(NOW_SECONDS + 60) },
      'The claim exp of the token is malformed.',
    ],
    ['that has expired', { exp: NOW_SECONDS - CLOCK_SKEW_SECONDS }, 'The token has expired.'],
    [
      'that is not valid yet',
      { nbf: NOW_SECONDS + CLOCK_SKEW_SECONDS + 1 },
      'The token is not valid yet.',
    ],
    [
      'with a subject that is no text',
      { sub: 7 },
      'The subject of the token is not a text of at most 255 characters.',
    ],
    [
      'with a subject that is too long',
      { sub: 'x'.repeat(256) },
      'The subject of the token is not a text of at most 255 characters.',
    ],
  ])('%s is refused, and told why', async (_case, claims, reason) => {
    const key = await createIssuerKey();
    expect(await verify([key], await sign(key, claims))).toEqual({ kind: 'refused', reason });
  });

  it.each<[string, Claims]>([
    ['for the second audience', { aud: 'second-audience' }],
    ['for several audiences', { aud: ['other', AUDIENCE] }],
    ['that expired within the skew', { exp: NOW_SECONDS - CLOCK_SKEW_SECONDS + 1 }],
    ['that is valid within the skew', { nbf: NOW_SECONDS + CLOCK_SKEW_SECONDS }],
    ['with the longest subject', { sub: 'x'.repeat(255) }],
    ['without a subject', { sub: undefined }],
  ])('%s is valid', async (_case, claims) => {
    const key = await createIssuerKey();
    expect(await verify([key], await sign(key, claims))).toMatchObject({ kind: 'valid' });
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
    const verification = await verify([key], await sign(key, claims), auth);
    if (refusal === undefined) expect(verification.kind).toBe('valid');
    else {
      expect(verification).toEqual({ kind: 'refused', reason: expect.stringContaining(refusal) });
    }
  });

  it('of an algorithm that the route does not take is refused, though the key is there', async () => {
    const key = await createIssuerKey('RS256');
    const verification = await verify([key], await sign(key), { algorithms: ['ES256'] });
    expect(verification).toEqual({ kind: 'refused', reason: NOT_VALID });
  });

  it('without a signature is refused, in every spelling of none', async () => {
    const key = await createIssuerKey();
    const token = await sign(key);
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const [head, payload] = withHeader(token, { alg, kid: key.kid }).split('.');
      for (const forged of [`${head}.${payload}.`, `${head}.${payload}`, `${head}.${payload}.AA`]) {
        expect((await verify([key], forged)).kind).toBe('refused');
      }
    }
  });

  it('signed with the public key as the secret of an HMAC is refused', async () => {
    const key = await createIssuerKey('RS256');
    const [, payload] = (await sign(key)).split('.');
    for (const secret of [await exportSPKI(key.publicKey), JSON.stringify(key.jwk), key.jwk.n]) {
      for (const [alg, digest] of [
        ['HS256', 'sha256'],
        ['HS512', 'sha512'],
      ] as const) {
        const header = JSON.stringify({ alg, kid: key.kid });
        const signed = `${Buffer.from(header).toString('base64url')}.${payload}`;
        const mac = createHmac(digest, secret ?? '')
          .update(signed)
          .digest('base64url');
        expect((await verify([key], `${signed}.${mac}`)).kind).toBe('refused');
      }
    }
  });

  it('signed with a symmetric key that the issuer publishes has no key here', async () => {
    const key = await createIssuerKey();
    const set = parseKeySet(JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'o' }] }));
    expect(set?.size).toBe(0);
    if (set === undefined) return;
    expect((await verifyJwt(await sign(key), AUTH, set, NOW_MS)).kind).toBe('no_key');
  });

  it('changed after it was signed is refused', async () => {
    const key = await createIssuerKey();
    const [head, , signature] = (await sign(key)).split('.');
    const [, payload] = (await sign(key, { sub: 'admin' })).split('.');
    expect((await verify([key], `${head}.${payload}.${signature}`)).kind).toBe('refused');
  });

  it('that brings a key of its own is verified with the issuer’s all the same', async () => {
    const [key, own] = [await createIssuerKey(), await createIssuerKey()];
    const header = {
      kid: key.kid,
      jwk: own.jwk,
      jku: 'http://evil.test/',
      x5u: 'http://evil.test/',
    };
    expect((await verify([key], await sign(own, {}, { header }))).kind).toBe('refused');
  });

  it('with a critical header that is not understood is refused', async () => {
    const key = await createIssuerKey();
    const forged = withHeader(await sign(key), { alg: 'ES256', crit: ['b64'], b64: false });
    expect((await verify([key], forged)).kind).toBe('refused');
  });

  it('that names a key which the issuer does not publish has no key', async () => {
    const [key, other] = [await createIssuerKey(), await createIssuerKey()];
    expect((await verify([key], await sign(other))).kind).toBe('no_key');
  });

  it('that names no key is tried with each that fits, and with no other', async () => {
    const keys = await Promise.all(
      ['RS256', 'ES256', 'ES256'].map((alg) => createIssuerKey(alg as 'ES256')),
    );
    const [, , last] = keys;
    if (last === undefined) throw new Error('no key');
    const token = await sign(last, {}, { header: { kid: undefined } });
    expect((await verify(keys, token)).kind).toBe('valid');
    const stranger = await sign(await createIssuerKey(), {}, { header: { kid: undefined } });
    expect(await verify(keys, stranger)).toEqual({ kind: 'refused', reason: NOT_VALID });
  });

  it('whose key cannot be used is not valid, whatever is wrong with the key', async () => {
    const key = await createIssuerKey();
    const broken = { ...key, jwk: { ...key.jwk, x: 'AAAA' } };
    expect((await verify([broken], await sign(key))).kind).toBe('unusable_key');
  });

  it.each(['', '.', '..', 'a.b.c', '...', 'e30.e30.e30', 'ey', `${'a'.repeat(8000)}.b.c`])(
    'that is none is refused: %.20j',
    async (text) => {
      expect((await verify([await createIssuerKey()], text)).kind).toBe('refused');
    },
  );
});

describe('a JWK Set', () => {
  it('is read without the private part of a key that was published by mistake', async () => {
    const key = await createIssuerKey();
    const leaked = { ...key, jwk: { ...key.jwk, d: 'c2VjcmV0' } };
    expect((await verify([leaked], await sign(key))).kind).toBe('valid');
  });

  it('is read without the entries that are no usable key', async () => {
    const { jwk } = await createIssuerKey();
    const entries = [null, 1, 'key', {}, { kty: 'new' }, { ...jwk, x: 'x'.repeat(300) }, jwk];
    expect(parseKeySet(JSON.stringify({ keys: entries }))?.size).toBe(1);
    expect(parseKeySet(JSON.stringify({ keys: Array(1000).fill(jwk) }))?.size).toBe(64);
  });

  it.each(['', 'null', '[]', '{}', '{"keys":1}', '{"keys":null}', '<html>'])(
    'is not made of %s',
    (text) => {
      expect(parseKeySet(text)).toBeUndefined();
    },
  );
});
