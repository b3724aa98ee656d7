import { INVALID_TOKEN_CHALLENGE } from '@gateway/shared/http/headers';
import { covers } from '@gateway/shared/tokens/scopes';
import { holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { RequestContext } from '../request/context.ts';
import type { CompiledAuth } from '../routing-table/routing-table.ts';

/** The rule that refuses a caller, in more detail than its caller may learn. */
export type AccessRule =
  | 'no_credential'
  | 'two_tokens'
  | 'no_token_in_credential'
  | 'token_unknown'
  | 'token_in_other_header'
  | 'token_expired'
  | 'scope_missing'
  | 'environment_not_covered'
  | 'route_not_covered';

/** Why a caller is refused. */
export interface AccessRefusal {
  readonly rule: AccessRule;
  /** For the caller. */
  readonly message: string;
  /** The `WWW-Authenticate` field, unless it is the usual one. */
  readonly challenge?: string;
}

/**
 * These messages do not say what the route requires: a caller without a valid token gets the same
 * message if the route does not exist.
 */
const NOTHING_PRESENTED = 'The request has no token in a header that the route accepts.';
const NOTHING_VALID = 'The request has no valid token in a header that the route accepts.';

const NO_CREDENTIAL: AccessRefusal = { rule: 'no_credential', message: NOTHING_PRESENTED };
const TWO_TOKENS: AccessRefusal = { rule: 'two_tokens', message: 'The request has two tokens.' };
const NO_TOKEN: AccessRefusal = { rule: 'no_token_in_credential', message: NOTHING_VALID };
const UNKNOWN: AccessRefusal = { rule: 'token_unknown', message: NOTHING_VALID };
const OTHER_HEADER: AccessRefusal = { rule: 'token_in_other_header', message: NOTHING_VALID };
const EXPIRED: AccessRefusal = { rule: 'token_expired', message: 'The token has expired.' };
const NO_BEARER: AccessRefusal = { ...NO_TOKEN, challenge: INVALID_TOKEN_CHALLENGE };
const NO_SCOPE: AccessRefusal = {
  rule: 'scope_missing',
  message: 'The token lacks the scope `proxy`.',
};
const OTHER_ENVIRONMENT: AccessRefusal = {
  rule: 'environment_not_covered',
  message: 'The token does not cover this environment.',
};
const OTHER_ROUTE: AccessRefusal = {
  rule: 'route_not_covered',
  message: 'The token does not cover this route.',
};

/**
 * Why a route that takes tokens refuses the caller, or undefined if its token is valid there.
 *
 * @param auth undefined: the route does not exist; then a token is accepted in either header
 */
export function tokenRefusal(
  { token, tokenField, inbound }: Pick<RequestContext, 'token' | 'tokenField' | 'inbound'>,
  auth: CompiledAuth | undefined,
  { nowMs }: { readonly nowMs: () => number },
): AccessRefusal | undefined {
  const { authorization, apiKey } = inbound;
  if (authorization === undefined && apiKey === undefined) return NO_CREDENTIAL;
  // Only one of two tokens would count, and gateways differ in which one.
  if (tokenField === 'authorization' && apiKey !== undefined && holdsTokenSecret(apiKey)) {
    return TWO_TOKENS;
  }
  if (tokenField === undefined) return NO_TOKEN;
  if (token === undefined) return UNKNOWN;
  const wanted =
    auth === undefined ? tokenField : auth.type === 'api_key' ? 'x-api-key' : 'authorization';
  if (tokenField !== wanted) return OTHER_HEADER;
  return nowMs() >= token.expiresAtMs ? EXPIRED : undefined;
}

/**
 * Why a route that takes JWTs refuses the caller before it looks at the JWT.
 *
 * @param jwt the credential of `Authorization: Bearer`
 */
export function jwtRefusal(
  { inbound: { authorization, apiKey } }: Pick<RequestContext, 'inbound'>,
  jwt: string | undefined,
): AccessRefusal | undefined {
  if (authorization === undefined) return apiKey === undefined ? NO_CREDENTIAL : NO_TOKEN;
  return jwt === undefined ? NO_BEARER : undefined;
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
