import type { JwtAlgorithm } from '@gateway/shared/tokens/jwt-algorithms';

/** How the callers of a route prove who they are. */
export type CompiledAuth =
  | { readonly type: 'token' }
  | { readonly type: 'api_key' }
  | { readonly type: 'none' }
  | JwtAuth;

export interface JwtAuth {
  readonly type: 'jwt';
  readonly issuer: string;
  /** The token must name one of these audiences. */
  readonly audience: readonly string[];
  readonly jwksUrl: string;
  readonly algorithms: readonly JwtAlgorithm[];
  readonly requiredClaims: readonly RequiredClaim[];
}

export interface RequiredClaim {
  readonly name: string;
  /** undefined: the claim must be present with any value. */
  readonly values: ReadonlySet<string | number | boolean> | undefined;
}
