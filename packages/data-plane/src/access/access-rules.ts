import { INVALID_TOKEN_CHALLENGE } from '@gateway/shared/http/headers';
import { covers } from '@gateway/shared/tokens/scopes';
import { credentialHoldsTokenSecret, holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { RequestContext, TokenField } from '../request/context.ts';
import type { CompiledAuth } from '../routing-table/compiled-auth.ts';

/** The rule that refuses a caller, in more detail than its caller may learn. */
export type AccessRule =
  | 'no_credential'
  | 'two_tokens'
  | 'no_token_in_credential'
  | 'token_unknown'
  | 'token_in_other_header'
  | 'token_expired'
  | UnverifiedJwtRule
  | 'jwt_refused'
  | 'scope_missing'
  | 'environment_not_covered'
  | 'environment_of_other_host'
  | 'no_route_of_host'
  | 'route_not_covered';

/**
 * The JWT is malformed or names another issuer; no key of the issuer signed it; or its signature is not checked, because
 * the address has failed too often.
 */
export type UnverifiedJwtRule = 'jwt_of_other_issuer' | 'jwt_not_verified' | 'jwt_not_checked';

/** Why a caller is refused. */
export interface AccessRefusal {
  readonly rule: AccessRule;
  /** For the caller. */
  readonly message: string;
  /** The `Bearer` challenge in `WWW-Authenticate`, unless it is the usual one. */
  readonly challenge?: string;
}

/** A credential that no route accepts; the message and the challenge do not say what a route requires. */
const notValid = (rule: AccessRule): AccessRefusal => ({
  rule,
  message: 'The request has no valid token in a header that the route accepts.',
  challenge: INVALID_TOKEN_CHALLENGE,
});

const NO_CREDENTIAL: AccessRefusal = {
  rule: 'no_credential',
  message: 'The request has no token in a header that the route accepts.',
};
const TWO_TOKENS: AccessRefusal = { rule: 'two_tokens', message: 'The request has two tokens.' };
const NO_TOKEN = notValid('no_token_in_credential');
const UNKNOWN = notValid('token_unknown');
const OTHER_HEADER = notValid('token_in_other_header');
const UNVERIFIED = {
  jwt_of_other_issuer: notValid('jwt_of_other_issuer'),
  jwt_not_verified: notValid('jwt_not_verified'),
  jwt_not_checked: notValid('jwt_not_checked'),
} satisfies Record<UnverifiedJwtRule, AccessRefusal>;
const EXPIRED: AccessRefusal = { ...notValid('token_expired'), message: 'The token has expired.' };
const NO_SCOPE: AccessRefusal = {
  rule: 'scope_missing',
  message: 'The token lacks the scope `proxy`.',
};
const OTHER_ENVIRONMENT: AccessRefusal = {
  rule: 'environment_not_covered',
  message: 'The token does not cover this environment.',
};
/** The host of a request names an environment. */
export const OTHER_HOST: AccessRefusal = {
  rule: 'environment_of_other_host',
  message: 'X-Gateway-Environment names another environment than the host.',
};
const OTHER_ROUTE: AccessRefusal = {
  rule: 'route_not_covered',
  message: 'The token does not cover this route.',
};

/**
 * Why the caller has no valid token, or undefined if it has one. It depends on nothing but what the caller sent, so
 * that it is the same for every route, and for one that does not exist.
 */
export function tokenRefusal(
  { token, tokenField, inbound }: Pick<RequestContext, 'token' | 'tokenField' | 'inbound'>,
  { nowMs }: { readonly nowMs: () => number },
): AccessRefusal | undefined {
  const { authorization, apiKey } = inbound;
  if (authorization === undefined && apiKey === undefined) return NO_CREDENTIAL;
  // Only one of two different tokens would count, and gateways differ in which one.
  if (tokenField === 'authorization' && apiKey !== undefined && holdsTokenSecret(apiKey)) {
    return TWO_TOKENS;
  }
  const isKey = tokenField === 'x-api-key' && authorization !== undefined;
  if (isKey && credentialHoldsTokenSecret(authorization, apiKey)) return TWO_TOKENS;
  if (tokenField === undefined) return NO_TOKEN;
  if (token === undefined) return UNKNOWN;
  return nowMs() >= token.expiresAtMs ? EXPIRED : undefined;
}

/**
 * The same for a caller whose JWT does not count. Only the rule tells it from a caller of a route that takes no JWTs.
 */
export function unverifiedJwtRefusal(
  refusal: AccessRefusal | undefined,
  rule: UnverifiedJwtRule,
): AccessRefusal | undefined {
  return refusal === NO_TOKEN ? UNVERIFIED[rule] : refusal;
}

/** The refusal of a JWT that the issuer of the route signed; its caller may learn the reason. */
export function refusedJwt(message: string): AccessRefusal {
  return { rule: 'jwt_refused', message, challenge: INVALID_TOKEN_CHALLENGE };
}

/** What the valid token of the caller does not cover, or undefined if it covers the route. */
export function reachRefusal(ctx: RequestContext): AccessRefusal | undefined {
  const { token } = ctx;
  if (token === undefined) return undefined;
  if (!token.mayProxy) return NO_SCOPE;
  if (!covers(token.environments, ctx.environmentName ?? '')) return OTHER_ENVIRONMENT;
  const { routeName } = ctx.target;
  return token.routes.has('*') || token.routes.has(routeName) ? undefined : OTHER_ROUTE;
}

/** The header in which a route of each type takes a token; undefined: it takes none. */
const TOKEN_HEADER: Readonly<Record<CompiledAuth['type'], TokenField | undefined>> = {
  token: 'authorization',
  api_key: 'x-api-key',
  jwt: undefined,
  none: undefined,
};

/**
 * Why the route does not take the valid token of the caller, or undefined if it does.
 *
 * @param auth undefined: it is not known what the route takes
 */
export function kindRefusal(
  { token, tokenField }: Pick<RequestContext, 'token' | 'tokenField'>,
  auth: CompiledAuth | undefined,
): AccessRefusal | undefined {
  if (token === undefined || auth === undefined) return undefined;
  const header = TOKEN_HEADER[auth.type];
  if (header === undefined) return NO_TOKEN;
  return tokenField === header || tokenField === 'both' ? undefined : OTHER_HEADER;
}
