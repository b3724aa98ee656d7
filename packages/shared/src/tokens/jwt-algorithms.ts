/**
 * The signature algorithms that a route may accept in a JWT: asymmetric ones only (RFC 7518 section 3.1, RFC 8037,
 * RFC 9864). With a symmetric one, the public key could be used to sign; `none` has no signature.
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
  'Ed25519',
] as const;

export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** RFC 8037 and RFC 9864 name the same algorithm differently; no other curve of EdDSA is accepted. */
const ED25519_NAMES: readonly string[] = ['EdDSA', 'Ed25519'] satisfies JwtAlgorithm[];

/** Whether this is a name of the signature algorithm Ed25519, in a JWT or in a key. */
export function isEd25519(algorithm: string | undefined): boolean {
  return algorithm !== undefined && ED25519_NAMES.includes(algorithm);
}

/** The names that the `alg` of a JWT may have if these algorithms are accepted. */
export function namesOfAlgorithms(algorithms: readonly JwtAlgorithm[]): string[] {
  return algorithms.some(isEd25519) ? [...algorithms, ...ED25519_NAMES] : [...algorithms];
}
