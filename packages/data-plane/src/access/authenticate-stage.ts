import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bearerCredential, INVALID_TOKEN_CHALLENGE } from '@gateway/shared/http/headers';
import { holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { RequestContext } from '../request/context.ts';
import { refuseAccess, type AccessOptions } from './refuse-access.ts';
import type { Stage } from '../request/stage.ts';
import type { JwtVerdict, JwtVerifier } from './jwt/jwt-verifier.ts';
import type { CompiledAuth, JwtAuth } from '../routing-table/routing-table.ts';

export interface AuthenticateOptions extends AccessOptions {
  readonly jwts: JwtVerifier;
  /** Whether an environment that is not in the table is not there at all. */
  readonly ready: (environment: string) => boolean;
}

/**
 * Makes sure who calls, by what the route asks for. Runs before anything is told about routes, and
 * before the quota, so that a caller who cannot prove itself spends nothing of a route's. Where there
 * is no such route, a token counts in either field.
 */
export function createAuthenticate(options: AuthenticateOptions): Stage {
  return (ctx) => {
    if (ctx.environment === undefined) refuseUnserved(ctx, options);
    const auth = ctx.route?.auth;
    switch (auth?.type) {
      case 'none':
        ctx.token = undefined;
        return undefined;
      case 'jwt':
        ctx.token = undefined;
        return takeJwt(ctx, auth, options);
      case 'token':
      case 'api_key':
      case undefined:
        takeToken(ctx, auth, options);
        return undefined;
    }
  };
}

/**
 * Of an environment whose configuration could not be read no token is known either: 401 would say that
 * the caller's is wrong, and make it throw a good one away.
 */
function refuseUnserved(ctx: RequestContext, options: AuthenticateOptions): void {
  const { environmentName = '' } = ctx;
  if (options.ready(environmentName)) return;
  throw new GatewayError(
    'gateway_not_ready',
    `The configuration of the environment ${environmentName} could not be loaded yet.`,
    { headers: { 'retry-after': '1' } },
  );
}

/**
 * What is told to a caller whom no token has opened anything says nothing of what the route asks for, as
 * it is told also where there is no such route.
 */
const NOTHING_PRESENTED = 'The request carries no token where the route takes it.';
const NOTHING_VALID = 'The request carries no valid token where the route takes it.';

function takeToken(
  ctx: RequestContext,
  auth: CompiledAuth | undefined,
  options: AccessOptions,
): void {
  const { token, tokenField } = ctx;
  const { authorization, apiKey } = ctx.inbound;
  const wanted =
    auth === undefined ? tokenField : auth.type === 'api_key' ? 'x-api-key' : 'authorization';
  if (authorization === undefined && apiKey === undefined) {
    refuseAccess(ctx, options, NOTHING_PRESENTED);
  }
  // Of two tokens one would count and the other not; which of them differs from gateway to gateway.
  if (tokenField === 'authorization' && apiKey !== undefined && holdsTokenSecret(apiKey)) {
    refuseAccess(ctx, options, 'The request carries two tokens.');
  }
  if (token === undefined || tokenField !== wanted) refuseAccess(ctx, options, NOTHING_VALID);
  if (options.nowMs() >= token.expiresAtMs) {
    refuseAccess(ctx, options, 'The token has expired.');
  }
  ctx.principal = token.id;
}

function takeJwt(
  ctx: RequestContext,
  auth: JwtAuth,
  options: AuthenticateOptions,
): undefined | Promise<undefined> {
  const { authorization, apiKey } = ctx.inbound;
  if (authorization === undefined) {
    refuseAccess(ctx, options, apiKey === undefined ? NOTHING_PRESENTED : NOTHING_VALID);
  }
  const jwt = bearerCredential(authorization);
  if (jwt === undefined) refuseAccess(ctx, options, NOTHING_VALID, INVALID_TOKEN_CHALLENGE);
  const verdict = options.jwts.verify(auth, jwt, ctx.deadlineMs);
  if (verdict instanceof Promise) return verdict.then((later) => settle(ctx, later, options));
  settle(ctx, verdict, options);
  return undefined;
}

function settle(ctx: RequestContext, verdict: JwtVerdict, options: AccessOptions): undefined {
  if (verdict.kind === 'refused') {
    refuseAccess(ctx, options, verdict.reason, INVALID_TOKEN_CHALLENGE);
  }
  if (verdict.kind === 'no_keys') {
    throw new GatewayError(
      'gateway_not_ready',
      'The token cannot be verified: the keys of its issuer could not be fetched.',
      { headers: { 'retry-after': String(verdict.retryAfterSeconds) } },
    );
  }
  ctx.jwt = verdict.caller;
  ctx.principal = verdict.caller.principal;
  return undefined;
}
