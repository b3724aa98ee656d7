import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bearerCredential } from '@gateway/shared/http/headers';
import type { RequestContext } from '../request/context.ts';
import type { FairSlots } from '../limits/bulkheads.ts';
import type { OverloadRefusals } from '../limits/overload-refusals.ts';
import { countFailure, refuseAccess, requireServed, type AccessOptions } from './refuse-access.ts';
import { isProxyPath } from '../request/proxy-path.ts';
import {
  OTHER_HOST,
  refusedJwt,
  tokenRefusal,
  unverifiedJwtRefusal,
  type AccessRefusal,
  type UnverifiedJwtRule,
} from './access-rules.ts';
import type { Stage } from '../request/stage.ts';
import type { JwtVerdict, JwtVerifier } from './jwt/jwt-verifier.ts';
import type { JwtAuth } from '../routing-table/compiled-auth.ts';

export interface AuthenticateOptions extends AccessOptions {
  readonly jwts: JwtVerifier;
  /** The slots of requests that wait for the keys of their issuer; they are shared by issuer. */
  readonly waiting: FairSlots;
  readonly overloads: OverloadRefusals;
}

/**
 * Finds out who the caller is. Runs before the quota, so that an unauthenticated caller uses no quota. The caller
 * learns nothing about routes here: whoever has neither a valid token nor a JWT that the issuer of the route signed gets
 * the same refusal for every route, and for one that does not exist. A valid token is accepted in either header; whether
 * the route takes it is for the next stage, which checks first what the token covers.
 */
export function createAuthenticate(options: AuthenticateOptions): Stage {
  return (ctx) => {
    if (ctx.target.hostEnvironment !== undefined) checkHost(ctx, options);
    const auth = (ctx.route ?? ctx.unusableRoute)?.auth;
    if (auth?.type === 'none') {
      ctx.token = undefined;
      return undefined;
    }
    const jwt = auth?.type === 'jwt' ? presentedJwt(ctx) : undefined;
    if (auth?.type === 'jwt' && jwt !== undefined) return takeJwt(ctx, auth, jwt, options);
    takeToken(ctx, options, tokenRefusal(ctx, options));
    return undefined;
  };
}

/**
 * Refuses a request whose header names another environment than its host, and one that no route of the host takes: a host
 * is public, so everybody learns of either.
 */
function checkHost(ctx: RequestContext, options: AccessOptions): void {
  const { hostEnvironment, routeName, path } = ctx.target;
  const { environment: named } = ctx.inbound;
  if (named !== undefined && named !== hostEnvironment) refuseAccess(ctx, options, OTHER_HOST);
  if (routeName !== '' || isProxyPath(path)) return;
  if (tokenRefusal(ctx, options) !== undefined) countFailure(ctx, options, 'no_route_of_host');
  throw new GatewayError('route_not_found', 'No route of this host takes the request.');
}

/** The credential of `Authorization: Bearer`, unless a token of the gateway is there. */
function presentedJwt({ tokenField, inbound }: RequestContext): string | undefined {
  const isToken = tokenField === 'authorization' || tokenField === 'both';
  return isToken ? undefined : bearerCredential(inbound.authorization);
}

function takeToken(
  ctx: RequestContext,
  options: AccessOptions,
  refusal: AccessRefusal | undefined,
): void {
  if (refusal !== undefined) {
    requireServed(ctx, options);
    refuseAccess(ctx, options, refusal);
  }
  ctx.principal = ctx.token?.id;
}

/**
 * The JWT does not count, so only a token in the other header does, as for any other route.
 *
 * @param rule why it does not count, for operators
 */
function takeTokenAfterJwt(
  ctx: RequestContext,
  options: AccessOptions,
  rule: UnverifiedJwtRule,
): void {
  takeToken(ctx, options, unverifiedJwtRefusal(tokenRefusal(ctx, options), rule));
}

function takeJwt(
  ctx: RequestContext,
  auth: JwtAuth,
  jwt: string,
  options: AuthenticateOptions,
): undefined | Promise<undefined> {
  let endCheck: (() => void) | undefined;
  const verdict = options.jwts.verify(auth, jwt, ctx.deadlineMs, () => {
    endCheck = options.failures.beginSignatureCheck(ctx.clientIp, options.nowMs());
    return endCheck !== undefined;
  });
  if (verdict instanceof Promise && endCheck !== undefined) verdict.then(endCheck, endCheck);
  if (verdict instanceof Promise) return useVerdictLater(ctx, auth, verdict, options);
  useVerdict(ctx, verdict, options);
  return undefined;
}

/** Waits for the keys of the issuer in a slot apart from those of the data path, because anybody can send a JWT. */
async function useVerdictLater(
  ctx: RequestContext,
  auth: JwtAuth,
  verdict: Promise<JwtVerdict>,
  options: AuthenticateOptions,
): Promise<undefined> {
  const { waiting, overloads } = options;
  const issuer = waiting.loadOf(auth.jwksUrl);
  if (!waiting.hasRoomFor(issuer)) {
    const message = 'Too many requests wait for the keys of the issuer of their token.';
    throw overloads.refuseHere('unauthenticated', message);
  }
  waiting.take(issuer);
  try {
    useVerdict(ctx, await verdict, options);
    return undefined;
  } finally {
    issuer.release();
    waiting.release();
  }
}

function useVerdict(ctx: RequestContext, verdict: JwtVerdict, options: AccessOptions): void {
  switch (verdict.kind) {
    case 'caller':
      ctx.token = undefined;
      ctx.jwt = verdict.caller;
      ctx.principal = verdict.caller.principal;
      return;
    case 'refused':
      if (verdict.reason !== undefined) refuseAccess(ctx, options, refusedJwt(verdict.reason));
      takeTokenAfterJwt(ctx, options, 'jwt_not_verified');
      return;
    case 'other_issuer':
      takeTokenAfterJwt(ctx, options, 'jwt_of_other_issuer');
      return;
    case 'not_checked':
      takeTokenAfterJwt(ctx, options, 'jwt_not_checked');
      return;
    case 'no_keys':
      throw new GatewayError(
        'gateway_not_ready',
        'The token cannot be verified: the keys of its issuer are not available.',
        { headers: { 'retry-after': String(verdict.retryAfterSeconds) } },
      );
  }
}
