import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { exportSPKI } from 'jose';
import { JWT_AUTH, NOW_MS, signAtNow, verifyAtNow } from '../../../test/jwt-verification.ts';
import { createIssuerKey } from '@gateway/shared/test/token-issuer';
import { parseKeySet } from './key-set.ts';
import { verifyJwt } from './verify-jwt.ts';

/** The token with another header and its original signature. */
function withHeader(token: string, header: object): string {
  const [, payload = '', signature = ''] = token.split('.');
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`;
}

describe('a JWT', () => {
  it('with an algorithm that the route does not accept is refused, even if the key exists', async () => {
    const key = await createIssuerKey('RS256');
    const verification = await verifyAtNow([key], await signAtNow(key), { algorithms: ['ES256'] });
    expect(verification).toEqual({ kind: 'refused', reason: undefined });
  });

  it('without a signature is refused, in every spelling of none', async () => {
    const key = await createIssuerKey();
    const token = await signAtNow(key);
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const [head, payload] = withHeader(token, { alg, kid: key.kid }).split('.');
      for (const forged of [`${head}.${payload}.`, `${head}.${payload}`, `${head}.${payload}.AA`]) {
        expect((await verifyAtNow([key], forged)).kind).toBe('refused');
      }
    }
  });

  it('signed with the public key as the secret of an HMAC is refused', async () => {
    const key = await createIssuerKey('RS256');
    const [, payload] = (await signAtNow(key)).split('.');
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
        expect((await verifyAtNow([key], `${signed}.${mac}`)).kind).toBe('refused');
      }
    }
  });

  it('signed with a symmetric key that the issuer publishes has no key here', async () => {
    const key = await createIssuerKey();
    const set = parseKeySet(JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'o' }] }));
    expect(set?.size).toBe(0);
    if (set === undefined) return;
    expect((await verifyJwt(await signAtNow(key), JWT_AUTH, set, NOW_MS)).kind).toBe('no_key');
  });

  it('changed after it was signed is refused', async () => {
    const key = await createIssuerKey();
    const [head, , signature] = (await signAtNow(key)).split('.');
    const [, payload] = (await signAtNow(key, { sub: 'admin' })).split('.');
    expect((await verifyAtNow([key], `${head}.${payload}.${signature}`)).kind).toBe('no_key');
  });

  it('that contains a key is verified with the issuer’s key only', async () => {
    const [key, own] = [await createIssuerKey(), await createIssuerKey()];
    const header = {
      kid: key.kid,
      jwk: own.jwk,
      jku: 'http://evil.test/',
      x5u: 'http://evil.test/',
    };
    expect((await verifyAtNow([key], await signAtNow(own, {}, { header }))).kind).toBe('no_key');
  });

  it('with a critical header that is not understood is refused', async () => {
    const key = await createIssuerKey();
    const forged = withHeader(await signAtNow(key), { alg: 'ES256', crit: ['odd'], odd: 1 });
    expect((await verifyAtNow([key], forged)).kind).toBe('refused');
  });

  it('that names a key which the issuer does not publish has no key', async () => {
    const [key, other] = [await createIssuerKey(), await createIssuerKey()];
    expect((await verifyAtNow([key], await signAtNow(other))).kind).toBe('no_key');
  });

  it('without a key id is tried with each matching key and no other', async () => {
    const keys = await Promise.all(
      ['RS256', 'ES256', 'ES256'].map((alg) => createIssuerKey(alg as 'ES256')),
    );
    const [, , last] = keys;
    if (last === undefined) throw new Error('no key');
    const token = await signAtNow(last, {}, { header: { kid: undefined } });
    expect((await verifyAtNow(keys, token)).kind).toBe('valid');
    const stranger = await signAtNow(await createIssuerKey(), {}, { header: { kid: undefined } });
    expect(await verifyAtNow(keys, stranger)).toEqual({ kind: 'no_key' });
  });

  it('whose key cannot be used is not valid, for any defect of the key', async () => {
    const key = await createIssuerKey();
    const broken = { ...key, jwk: { ...key.jwk, x: 'AAAA' } };
    expect((await verifyAtNow([broken], await signAtNow(key))).kind).toBe('unusable_key');
  });

  it.each<[string, Record<string, unknown>]>([
    ['names no key', { kid: undefined }],
    ['names several', { kid: 'shared' }],
  ])('that %s is tried with a good key after an unusable one', async (_case, id) => {
    const good = await createIssuerKey('RS256');
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const named = [short.publicKey.export({ format: 'jwk' }), good.jwk].map((jwk) => {
      return { ...good, jwk: { ...jwk, ...id } };
    });
    const token = await signAtNow(good, {}, { header: id });
    expect((await verifyAtNow(named, token)).kind).toBe('valid');
    expect(
      (await verifyAtNow(named, await signAtNow(good, { aud: 'x' }, { header: id }))).kind,
    ).toBe('refused');
  });

  it.each(['', '.', '..', 'a.b.c', '...', 'e30.e30.e30', 'ey', `${'a'.repeat(8000)}.b.c`])(
    'that is malformed is refused: %.20j',
    async (text) => {
      expect((await verifyAtNow([await createIssuerKey()], text)).kind).toBe('refused');
    },
  );
});

describe('EdDSA and Ed25519, which name one algorithm (RFC 9864)', () => {
  const names = ['EdDSA', 'Ed25519'] as const;
  const cases = names.flatMap((listed) =>
    names.flatMap((signed) => [...names, undefined].map((ofKey) => ({ listed, signed, ofKey }))),
  );

  it.each(cases)(
    'verify a token with either name: the route lists $listed, the token has $signed, its key $ofKey',
    async ({ listed, signed, ofKey }) => {
      const key = await createIssuerKey(signed);
      const { alg: _own, ...unnamed } = key.jwk;
      const published = { ...key, jwk: ofKey === undefined ? unnamed : { ...unnamed, alg: ofKey } };
      const verification = await verifyAtNow([published], await signAtNow(key), {
        algorithms: [listed],
      });
      expect(verification.kind).toBe('valid');
    },
  );

  it('are accepted only if the route lists one of them', async () => {
    const key = await createIssuerKey('Ed25519');
    const verification = await verifyAtNow([key], await signAtNow(key), { algorithms: ['ES256'] });
    expect(verification).toEqual({ kind: 'refused', reason: undefined });
  });

  it('are not names of another key: one of another type, another curve or another algorithm', async () => {
    const key = await createIssuerKey('Ed25519');
    const token = await signAtNow(key);
    const { x = '' } = key.jwk;
    const { kid } = key;
    for (const jwk of [
      { ...(await createIssuerKey('ES256')).jwk, kid, alg: 'EdDSA' },
      { kty: 'OKP', crv: 'X25519', x, kid, alg: 'EdDSA' },
      { kty: 'OKP', crv: 'Ed448', x, kid, alg: 'EdDSA' },
      { ...key.jwk, alg: 'ES256' },
      { ...key.jwk, use: 'enc' },
    ]) {
      const verification = await verifyAtNow([{ ...key, jwk }], token, { algorithms: ['EdDSA'] });
      expect({ jwk, kind: verification.kind }).toEqual({ jwk, kind: 'no_key' });
    }
  });
});

describe('a JWK Set', () => {
  it('is parsed without private members that were published by mistake', async () => {
    const key = await createIssuerKey();
    const leaked = { ...key, jwk: { ...key.jwk, d: 'c2VjcmV0' } };
    expect((await verifyAtNow([leaked], await signAtNow(key))).kind).toBe('valid');
  });

  it('is parsed without unusable entries', async () => {
    const { jwk } = await createIssuerKey();
    const entries = [null, 1, 'key', {}, { kty: 'new' }, { ...jwk, x: 'x'.repeat(300) }, jwk];
    expect(parseKeySet(JSON.stringify({ keys: entries }))?.size).toBe(1);
    expect(parseKeySet(JSON.stringify({ keys: Array(1000).fill(jwk) }))?.size).toBe(64);
  });

  it.each(['', 'null', '[]', '{}', '{"keys":1}', '{"keys":null}', '<html>'])(
    'is not parsed from %s',
    (text) => {
      expect(parseKeySet(text)).toBeUndefined();
    },
  );
});
