import { describe, expect, it } from '@jest/globals';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { parseInput } from '../http/input.ts';
import { authField } from '@gateway/shared/definitions/route-auth';
import { servedAuth } from './route-auth.ts';

const field = authField(parseAddressRanges(['169.254.0.0/16']));

const jwt = {
  type: 'jwt',
  issuer: 'https://issuer.example.com',
  audience: 'pay',
  jwks_url: 'https://issuer.example.com/keys',
};

function details(auth: unknown): readonly { path: string; message: string }[] {
  try {
    parseInput<unknown>(field, auth);
    return [];
  } catch (error) {
    return (error as { details: readonly { path: string; message: string }[] }).details;
  }
}

describe('the authentication of a route', () => {
  it.each(['token', 'api_key', 'none'])('accepts %s without further fields', (type) => {
    expect(details({ type })).toEqual([]);
    expect(details({ type, issuer: 'x' })).toEqual([
      { path: 'issuer', message: 'is not a known field' },
    ]);
  });

  it('has the algorithms of most issuers as the default for a JWT', () => {
    expect(field.parse(jwt)).toEqual({
      ...jwt,
      algorithms: ['RS256', 'ES256'],
      required_claims: {},
    });
  });

  it.each(['EdDSA', 'Ed25519'])('accepts the algorithm %s', (algorithm) => {
    expect(details({ ...jwt, algorithms: [algorithm] })).toEqual([]);
  });

  it.each(['none', 'HS256', 'HS384', 'HS512'])('refuses the algorithm %s', (algorithm) => {
    expect(details({ ...jwt, algorithms: ['ES256', algorithm] })).toEqual([
      { path: 'algorithms.1', message: expect.stringMatching(`^must not be ${algorithm}, as `) },
    ]);
  });

  it.each([
    [{}, 'type'],
    [{ type: 'magic' }, 'type'],
    [{ ...jwt, issuer: undefined }, 'issuer'],
    [{ ...jwt, issuer: '' }, 'issuer'],
    [{ ...jwt, issuer: 'a\nb' }, 'issuer'],
    [{ ...jwt, issuer: 'a\ud800b' }, 'issuer'],
    [{ ...jwt, issuer: '\u0000' }, 'issuer'],
    [{ ...jwt, required_claims: { '': 1 } }, 'required_claims'],
    [{ ...jwt, required_claims: { 'a\ud800': 1 } }, 'required_claims'],
    [{ ...jwt, required_claims: { sub: '\udc00' } }, 'required_claims'],
    [{ ...jwt, issuer: 'a'.repeat(2049) }, 'issuer'],
    [{ ...jwt, audience: undefined }, 'audience'],
    [{ ...jwt, audience: [] }, 'audience'],
    [{ ...jwt, audience: ['a', 'a'] }, 'audience'],
    [{ ...jwt, audience: 7 }, 'audience'],
    [{ ...jwt, audience: Array.from({ length: 17 }, (_none, at) => `a${at}`) }, 'audience'],
    [{ ...jwt, jwks_url: undefined }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'issuer.example.com/keys' }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'file:///etc/passwd' }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'https://user:pass@issuer.example.com' }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'http://169.254.169.254/keys?x=y' }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'https://issuer.example.com/#keys' }, 'jwks_url'],
    [{ ...jwt, jwks_url: 'https://issuer.example.com/?a#b' }, 'jwks_url'],
    [{ ...jwt, algorithms: [] }, 'algorithms'],
    [{ ...jwt, algorithms: ['ES256', 'ES256'] }, 'algorithms'],
    [{ ...jwt, algorithms: ['ES999'] }, 'algorithms.0'],
    [{ ...jwt, algorithms: 'ES256' }, 'algorithms'],
    [{ ...jwt, required_claims: 'sub' }, 'required_claims'],
    [{ ...jwt, required_claims: null }, 'required_claims'],
    [{ ...jwt, required_claims: { sub: null } }, 'required_claims'],
    [{ ...jwt, required_claims: { sub: [] } }, 'required_claims'],
    [{ ...jwt, required_claims: { sub: { a: 1 } } }, 'required_claims'],
    [{ ...jwt, required_claims: ['sub', 'sub'] }, 'required_claims'],
    [{ ...jwt, required_claims: [''] }, 'required_claims'],
    [
      {
        ...jwt,
        required_claims: Object.fromEntries(
          Array.from({ length: 17 }, (_none, at) => [`c${at}`, 1]),
        ),
      },
      'required_claims',
    ],
    [{ ...jwt, leeway: 5 }, 'leeway'],
  ])('is refused for %j', (auth, path) => {
    const paths = details(auth).map((one) => one.path);
    expect(paths).toHaveLength(1);
    expect(paths[0]?.startsWith(path)).toBe(true);
  });

  it.each(['token', 7, [], null])('refuses %j, which is not an object', (auth) => {
    expect(details(auth)).toHaveLength(1);
  });

  it('reports every missing field as required', () => {
    expect(details({ type: 'jwt' })).toEqual(
      ['issuer', 'audience', 'jwks_url'].map((path) => ({ path, message: 'is required' })),
    );
  });

  it('refuses numbers that JSON reads as other numbers', () => {
    const read = JSON.parse('{"tenant": 9007199254740993}') as object;
    for (const claims of [read, { tenant: [1, -(2 ** 53)] }]) {
      expect(details({ ...jwt, required_claims: claims })).toEqual([
        { path: 'required_claims.tenant', message: expect.stringContaining('beyond') },
      ]);
    }
    const largest = { tenant: [Number.MAX_SAFE_INTEGER, 0.5], admin: true };
    expect(details({ ...jwt, required_claims: largest })).toEqual([]);
  });

  it('refuses a claim named __proto__, which would be dropped', () => {
    const claims = JSON.parse('{"sub": "a", "__proto__": "b"}') as object;
    expect(details({ ...jwt, required_claims: claims })).toEqual([
      { path: 'required_claims', message: 'must not name a claim __proto__' },
    ]);
  });

  it('accepts a query in jwks_url', () => {
    expect(details({ ...jwt, jwks_url: 'https://issuer.example.com/keys?policy=a' })).toEqual([]);
  });
});

describe('servedAuth', () => {
  it('has one form for all forms of audience and claims', () => {
    const served = (fields: object) => servedAuth(field.parse({ ...jwt, ...fields }));
    expect(served({ required_claims: ['sub', 'tenant'] })).toMatchObject({
      audience: ['pay'],
      required_claims: [
        { name: 'sub', values: null },
        { name: 'tenant', values: null },
      ],
    });
    const claims = { tenant: ['a', 7, true], admin: false, constructor: 'x' };
    expect(served({ audience: ['pay', 'bill'], required_claims: claims })).toMatchObject({
      audience: ['pay', 'bill'],
      required_claims: [
        { name: 'admin', values: [false] },
        { name: 'constructor', values: ['x'] },
        { name: 'tenant', values: ['a', 7, true] },
      ],
    });
  });
});
