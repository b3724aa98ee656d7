import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { namesOfAlgorithms } from '@gateway/shared/tokens/jwt-algorithms';
import type { JwtAuth } from '../../routing-table/compiled-auth.ts';
import { refuseClaims } from './jwt-caller.ts';
import type { KeySet } from './key-set.ts';

/** The result of verifying a token with one key set. */
export type Verification =
  | { readonly kind: 'valid'; readonly payload: JWTPayload & { readonly exp: number } }
  /** The reason is undefined unless a key of the issuer signed the token: nobody else may learn one. */
  | { readonly kind: 'refused'; readonly reason: string | undefined }
  /** No key of the set made the signature: the named key is missing or is a different one. */
  | { readonly kind: 'no_key' }
  /** The issuer publishes a key that cannot verify anything. */
  | { readonly kind: 'unusable_key' };

/** Allowed clock difference of issuer and gateway for `exp` and `nbf` (RFC 7519 section 4.1.4). */
export const CLOCK_SKEW_SECONDS = 30;

/** How many matching keys are tried for a token that names no key. */
const MAX_KEYS_TRIED = 8;

/**
 * Verifies a JWT (RFC 7519): the signature by one of the route's algorithms, issuer, audience, `exp`
 * (required), `nbf`, and the claims that the route requires. The signature is checked first, so only the
 * holder of a genuine token learns which claim is wrong.
 */
export async function verifyJwt(
  token: string,
  auth: JwtAuth,
  keys: KeySet,
  nowMs: number,
): Promise<Verification> {
  const options: JWTVerifyOptions = {
    algorithms: namesOfAlgorithms(auth.algorithms),
    issuer: auth.issuer,
    audience: [...auth.audience],
    requiredClaims: ['exp'],
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: new Date(nowMs),
  };
  try {
    const payload = await payloadOf(token, keys, options);
    const { exp } = payload;
    const reason = exp === undefined ? undefined : refuseClaims(payload, auth);
    if (exp === undefined || reason !== undefined) return { kind: 'refused', reason };
    return { kind: 'valid', payload: { ...payload, exp } };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return { kind: 'no_key' };
    // An issuer may reuse a key id for a new key, or use none.
    if (isSignedByAnotherKey(error)) return { kind: 'no_key' };
    if (error instanceof errors.JOSEError) return { kind: 'refused', reason: reasonOf(error) };
    // All other errors of jose and Web Crypto concern the key: malformed or too short.
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
        // An unusable key, for example one that is too short, must not hide the keys after it.
        if (failure instanceof errors.JOSEError && !isSignedByAnotherKey(failure)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function isSignedByAnotherKey(error: unknown): boolean {
  return error instanceof errors.JWSSignatureVerificationFailed;
}

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  aud: 'The token is for another audience.',
  nbf: 'The token is not valid yet.',
};

function reasonOf(error: errors.JOSEError): string | undefined {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return undefined;
  if (error.reason === 'missing') return `The token lacks the claim ${error.claim}.`;
  if (error.reason === 'invalid') return `The claim ${error.claim} of the token is malformed.`;
  return CLAIM_REASONS[error.claim];
}
