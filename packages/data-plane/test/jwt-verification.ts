import { parseKeySet } from '../src/access/jwt/key-set.ts';
import { verifyJwt, type Verification } from '../src/access/jwt/verify-jwt.ts';
import type { JwtAuth } from '../src/routing-table/compiled-auth.ts';
import {
  AUDIENCE,
  ISSUER,
  signToken,
  type Claims,
  type IssuerKey,
  type TokenOptions,
} from '@gateway/shared/test/token-issuer';

/** The time at which tokens are signed and verified. It is fixed, so that limits can be tested exactly. */
export const NOW_MS = Date.UTC(2030, 0, 1);

/** The requirements of a route for the tokens of `signAtNow`. */
export const JWT_AUTH: JwtAuth = {
  type: 'jwt',
  issuer: ISSUER,
  audience: [AUDIENCE, 'second-audience'],
  jwksUrl: 'http://issuer.test/jwks.json',
  algorithms: ['RS256', 'ES256'],
  requiredClaims: [],
};

/** Verifies a token at that time with these keys. */
export function verifyAtNow(
  keys: readonly IssuerKey[],
  token: string,
  auth: Partial<JwtAuth> = {},
): Promise<Verification> {
  const set = parseKeySet(JSON.stringify({ keys: keys.map((key) => key.jwk) }));
  if (set === undefined) throw new Error('the key set was refused');
  return verifyJwt(token, { ...JWT_AUTH, ...auth }, set, NOW_MS);
}

/** Signs a token at that time. */
export function signAtNow(
  key: IssuerKey,
  claims: Claims = {},
  options: TokenOptions = {},
): Promise<string> {
  return signToken(key, claims, { nowMs: NOW_MS, ...options });
}
