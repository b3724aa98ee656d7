/**
 * The signature algorithms that a route may accept in a JWT: asymmetric ones only (RFC 7518 section 3.1, RFC 8037). With a
 * symmetric one, the public key could be used to sign; `none` has no signature.
 */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];
