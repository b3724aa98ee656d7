import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bearerCredential, INVALID_TOKEN_CHALLENGE } from '@gateway/shared/http/headers';
import type { RequestContext } from '../request/context.ts';
import type { FairSlots } from '../limits/fair-slots.ts';
import type { OverloadRefusals } from '../limits/overload-refusals.ts';
import { refuseAccess, type AccessOptions } from './refuse-access.ts';
import { jwtRefusal, tokenRefusal } from './access-rules.ts';
import type { Stage } from '../request/stage.ts';
import type { JwtVerdict, JwtVerifier } from './jwt/jwt-verifier.ts';
import type { CompiledAuth, JwtAuth } from '../routing-table/routing-table.ts';

export interface AuthenticateOptions extends AccessOptions {
  readonly jwts: JwtVerifier;
  /** The slots of requests that wait for the keys of their issuer; they are shared by issuer. */
  readonly waiting: FairSlots;
  readonly overloads: OverloadRefusals;
  /** Whether the environment is loaded; then an environment that the table lacks does not exist. */
  readonly ready: (environment: string) => boolean;
}

/**
 * Authenticates the caller as the route requires. Runs before the caller learns anything about routes,
 * and before the quota, so that an unauthenticated caller uses no quota. If the route does not exist, a
 * token is accepted in either header.
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
 * The tokens of an environment that is not loaded are unknown. A 401 would tell the caller that its
 * token is wrong, and it might discard a valid token.
 */
function refuseUnserved(ctx: RequestContext, options: AuthenticateOptions): void {
  const { environmentName = '' } = ctx;
  if (options.ready(environmentName)) return;
  throw new GatewayError(
    'gateway_not_ready',
    `The configuration of the environment ${environmentName} is not loaded yet.`,
    { headers: { 'retry-after': '1' } },
  );
}

function takeToken(
  ctx: RequestContext,
  auth: CompiledAuth | undefined,
  options: AccessOptions,
): void {
  const refusal = tokenRefusal(ctx, auth, options);
  if (refusal !== undefined) refuseAccess(ctx, options, refusal.message);
  ctx.principal = ctx.token?.id;
}

function takeJwt(
  ctx: RequestContext,
  auth: JwtAuth,
  options: AuthenticateOptions,
): undefined | Promise<undefined> {
  const jwt = bearerCredential(ctx.inbound.authorization);
  const refusal = jwtRefusal(ctx, jwt);
  if (refusal !== undefined || jwt === undefined) {
    refuseAccess(ctx, options, refusal?.message ?? '', refusal?.challenge);
  }
  const verdict = options.jwts.verify(auth, jwt, ctx.deadlineMs);
  if (verdict instanceof Promise) return settleLater(ctx, auth, verdict, options);
  settle(ctx, verdict, options);
  return undefined;
}

/** Waits for the keys of the issuer in a slot apart from those of the data path, because anybody can send a JWT. */
async function settleLater(
  ctx: RequestContext,
  auth: JwtAuth,
  verdict: Promise<JwtVerdict>,
  options: AuthenticateOptions,
): Promise<undefined> {
  const { waiting, overloads } = options;
  const issuer = waiting.tenant(auth.jwksUrl);
  if (!waiting.hasRoomFor(issuer)) {
    const message = 'Too many requests wait for the keys of the issuer of their token.';
    throw overloads.ofGateway('unauthenticated', message);
  }
  waiting.take(issuer);
  try {
    settle(ctx, await verdict, options);
  } finally {
    issuer.leave();
    waiting.leave();
  }
}

function settle(ctx: RequestContext, verdict: JwtVerdict, options: AccessOptions): undefined {
  if (verdict.kind === 'refused') {
    refuseAccess(ctx, options, verdict.reason, INVALID_TOKEN_CHALLENGE);
  }
  if (verdict.kind === 'no_keys') {
    throw new GatewayError(
      'gateway_not_ready',
      'The token cannot be verified: the keys of its issuer are not available.',
      { headers: { 'retry-after': String(verdict.retryAfterSeconds) } },
    );
  }
  ctx.jwt = verdict.caller;
  ctx.principal = verdict.caller.principal;
  return undefined;
}
