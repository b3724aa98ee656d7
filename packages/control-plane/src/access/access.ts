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

/** What an answer speaks of: an environment, a route of it, or another token. `*` stands for all names. */
export type Subject =
  | { readonly environment: string; readonly route?: string }
  | { readonly token: TokenReach };

/**
 * Why a token gets no answer that speaks of this; undefined: it does. Whether the path, the query, the body or a header
 * names the subject makes no difference, and the message does not say whether it exists.
 */
export function reachFault(token: TokenReach, subject: Subject): string | undefined {
  if ('token' in subject) {
    return reaches(token, subject.token)
      ? undefined
      : 'The other token covers more than the token of this call.';
  }
  if (!covers(token.environments, subject.environment)) {
    return 'The token does not cover the environment of this resource.';
  }
  return subject.route === undefined || covers(token.routes, subject.route)
    ? undefined
    : 'The token does not cover this route.';
}

/** @throws GatewayError authentication_failed */
export function requireReach(token: TokenReach, subject: Subject): void {
  const fault = reachFault(token, subject);
  if (fault !== undefined) throw refuseAccess(fault);
}

/** @throws GatewayError authentication_failed */
export function requireEnvironment(token: TokenReach, environment: string): void {
  requireReach(token, { environment });
}

/** A token must cover the environment and the name of a route. @throws GatewayError authentication_failed */
export function requireRoute(token: TokenReach, environment: string, route: string): void {
  requireReach(token, { environment, route });
}

/** A token sees, names and changes another one only if it covers all that the other covers. @throws GatewayError authentication_failed */
export function requireTokenReach(token: TokenReach, other: TokenReach): void {
  requireReach(token, { token: other });
}

/** The names that the token covers, as the filter of a list; undefined: all. */
export function coveredNames(names: readonly string[]): readonly string[] | undefined {
  return names.includes('*') ? undefined : names;
}
