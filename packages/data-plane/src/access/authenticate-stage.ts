import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { bearerCredential, INVALID_TOKEN_CHALLENGE } from '@gateway/shared/http/headers';
import { holdsTokenSecret } from '@gateway/shared/tokens/secret';
import type { RequestContext } from '../request/context.ts';
import type { FairSlots } from '../limits/fair-slots.ts';
import type { Overloads } from '../limits/overloads.ts';
import { refuseAccess, type AccessOptions } from './refuse-access.ts';
import type { Stage } from '../request/stage.ts';
import type { JwtVerdict, JwtVerifier } from './jwt/jwt-verifier.ts';
import type { CompiledAuth, JwtAuth } from '../routing-table/routing-table.ts';

export interface AuthenticateOptions extends AccessOptions {
  readonly jwts: JwtVerifier;
  /** The slots of requests that wait for the keys of their issuer; they are shared by issuer. */
  readonly waiting: FairSlots;
  readonly overloads: Overloads;
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

/**
 * These messages do not say what the route requires: a caller without a valid token gets the same
 * message if the route does not exist.
 */
const NOTHING_PRESENTED = 'The request has no token in a header that the route accepts.';
const NOTHING_VALID = 'The request has no valid token in a header that the route accepts.';

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
  // Only one of two tokens would count, and gateways differ in which one.
  if (tokenField === 'authorization' && apiKey !== undefined && holdsTokenSecret(apiKey)) {
    refuseAccess(ctx, options, 'The request has two tokens.');
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
