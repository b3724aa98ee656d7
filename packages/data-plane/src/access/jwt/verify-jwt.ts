import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import type { JwtAuth } from '../../routing-table/routing-table.ts';
import { refuseClaims } from './jwt-caller.ts';
import type { KeySet } from './key-set.ts';

/** What a key set says of a token. */
export type Verification =
  | { readonly kind: 'valid'; readonly payload: JWTPayload & { readonly exp: number } }
  | { readonly kind: 'refused'; readonly reason: string }
  /** None of the set's keys made the signature: that which the token names is not there, or is another. */
  | { readonly kind: 'no_key' }
  /** The issuer publishes a key that nothing can be verified with. */
  | { readonly kind: 'unusable_key' };

/** How far the clocks of issuer and gateway may differ, for `exp` and `nbf` (RFC 7519 section 4.1.4). */
export const CLOCK_SKEW_SECONDS = 30;

export const NOT_VALID = 'The token is not valid.';

/** Of the keys that fit a token which names none. */
const MAX_KEYS_TRIED = 8;

/**
 * Verifies a JWT (RFC 7519): signature by one of the route's algorithms, issuer, audience, `exp`, which
 * must be there, `nbf`, and the claims that the route requires. The signature comes first, so which
 * claim falls short is told only to the holder of a token that is the issuer's.
 */
export async function verifyJwt(
  token: string,
  auth: JwtAuth,
  keys: KeySet,
  nowMs: number,
): Promise<Verification> {
  const options: JWTVerifyOptions = {
    algorithms: [...auth.algorithms],
    issuer: auth.issuer,
    audience: [...auth.audience],
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: new Date(nowMs),
  };
  try {
    const payload = await payloadOf(token, keys, options);
    const { exp } = payload;
    const reason = exp === undefined ? NOT_VALID : refuseClaims(payload, auth);
    if (exp === undefined || reason !== undefined) {
      return { kind: 'refused', reason: reason ?? NOT_VALID };
    }
    return { kind: 'valid', payload: { ...payload, exp } };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return { kind: 'no_key' };
    // An issuer may put a new key under an id that it had before, or under none.
    if (isOfAnotherKey(error)) return { kind: 'no_key' };
    if (error instanceof errors.JOSEError) return { kind: 'refused', reason: reasonOf(error) };
    // Of what jose and Web Crypto throw, the rest speaks of the key: malformed, or too short.
    return { kind: 'unusable_key' };
  }
}

async function payloadOf(
  token: string,
  keys: KeySet,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys.find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      tried += 1;
      if (tried > MAX_KEYS_TRIED) break;
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        // A key that nothing can be verified with, one too short say, hides none that comes after it.
        if (failure instanceof errors.JOSEError && !isOfAnotherKey(failure)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function isOfAnotherKey(error: unknown): boolean {
  return error instanceof errors.JWSSignatureVerificationFailed;
}

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  iss: 'The token is of another issuer.',
  aud: 'The token is meant for another audience.',
  nbf: 'The token is not valid yet.',
};

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return NOT_VALID;
  if (error.reason === 'missing') return `The token lacks the claim ${error.claim}.`;
  if (error.reason === 'invalid') return `The claim ${error.claim} of the token is malformed.`;
  return CLAIM_REASONS[error.claim] ?? NOT_VALID;
}
