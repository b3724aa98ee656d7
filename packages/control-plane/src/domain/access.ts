import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { BEARER_CHALLENGE, insufficientScopeChallenge } from '@gateway/shared/http/headers';
import {
  covers,
  grantsScope,
  reaches,
  type Scope,
  type TokenReach,
} from '@gateway/shared/tokens/scopes';

/** A 401 with its challenge (RFC 9110 section 11.6.1, RFC 6750 section 3). */
export function refuseAccess(message: string, challenge = BEARER_CHALLENGE): GatewayError {
  return new GatewayError('authentication_failed', message, {
    headers: { 'www-authenticate': challenge },
  });
}

/**
 * The token must have all of the scopes.
 *
 * @throws GatewayError authentication_failed; its challenge names the scopes
 */
export function requireScopes(token: TokenReach, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !grantsScope(token.scopes, scope));
  if (missing === undefined) return;
  throw refuseAccess(`The token lacks the scope ${missing}.`, insufficientScopeChallenge(scopes));
}

/** @throws GatewayError authentication_failed */
export function requireEnvironment(token: TokenReach, environment: string): void {
  if (!covers(token.environments, environment)) {
    throw refuseAccess('The token does not cover the environment of this resource.');
  }
}

/** A token must cover the environment and the name of a route. @throws GatewayError authentication_failed */
export function requireRoute(token: TokenReach, environment: string, name: string): void {
  requireEnvironment(token, environment);
  if (!covers(token.routes, name)) throw refuseAccess('The token does not cover this route.');
}

/** A token sees and changes another one only if it covers all that the other covers. @throws GatewayError authentication_failed */
export function requireTokenReach(token: TokenReach, other: TokenReach): void {
  if (!reaches(token, other)) {
    throw refuseAccess('The other token covers more than the token of this call.');
  }
}

/** The names that the token covers, as the filter of a list; undefined: all. */
export function coveredNames(names: readonly string[]): readonly string[] | undefined {
  return names.includes('*') ? undefined : names;
}
