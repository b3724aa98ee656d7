import { parseKeySet } from '../src/access/jwt/key-set.ts';
import { verifyJwt, type Verification } from '../src/access/jwt/verify-jwt.ts';
import type { JwtAuth } from '../src/routing-table/routing-table.ts';
import {
  AUDIENCE,
  ISSUER,
  signToken,
  type Claims,
  type IssuerKey,
  type TokenOptions,
} from '@gateway/shared/test/token-issuer';

/** When tokens are signed and verified: a fixed time, so that their bounds can be met exactly. */
export const NOW_MS = Date.UTC(2030, 0, 1);

/** What a route asks of a token that `signAtNow` makes. */
export const JWT_AUTH: JwtAuth = {
  type: 'jwt',
  issuer: ISSUER,
  audience: [AUDIENCE, 'second-audience'],
  jwksUrl: 'http://issuer.test/jwks.json',
  algorithms: ['RS256', 'ES256'],
  requiredClaims: [],
};

/** Verifies a token at that time with a set of these keys. */
export function verifyAtNow(
  keys: readonly IssuerKey[],
  token: string,
  auth: Partial<JwtAuth> = {},
): Promise<Verification> {
  const set = parseKeySet(JSON.stringify({ keys: keys.map((key) => key.jwk) }));
  if (set === undefined) throw new Error('the key set was refused');
  return verifyJwt(token, { ...JWT_AUTH, ...auth }, set, NOW_MS);
}

/** A token that is signed at that time. */
export function signAtNow(
  key: IssuerKey,
  claims: Claims = {},
  options: TokenOptions = {},
): Promise<string> {
  return signToken(key, claims, { nowMs: NOW_MS, ...options });
}
