import { covers } from '@gateway/shared/tokens/scopes';
import { isTokenSecret, presentedTokenSecret } from '@gateway/shared/tokens/secret';
import { findToken, type Token } from '../routing-table/routing-table.ts';
import { cacheByFields } from '@gateway/http/message/repeated-fields';
import type { RequestContext, TokenField } from './context.ts';
import { inboundField } from './inbound-fields.ts';
import type { InboundHeaders } from './inbound-headers.ts';
import type { ReachOptions } from './reach-route.ts';
import type { Stage } from './stage.ts';

export interface ResolveRouteOptions {
  readonly defaultEnvironment: string;
  /** The hash by which a token is found. */
  readonly hashOf: (secret: string) => string;
}

/**
 * Finds the environment and its route. It refuses nothing, because only an authenticated caller may
 * learn that a route does not exist. The environment is that of the host if routes name it, else the token's if the token
 * has exactly one, else the one that `X-Gateway-Environment` names, else the default. A token is accepted from either header
 * here; authentication checks later whether the route accepts it from that header.
 */
export function createResolveRoute(options: ResolveRouteOptions): Stage {
  const tokenOf = tokenReader(options);
  return (ctx) => {
    const { hash, field } = tokenOf(ctx.inbound.raw, ctx.inbound, ctx.inbound.common);
    ctx.tokenField = field;
    const found = hash === undefined ? undefined : findToken(ctx.table, hash);
    ctx.environmentName =
      ctx.target.hostEnvironment ?? environmentOf(ctx.inbound, found, options.defaultEnvironment);
    ctx.environment = ctx.table.environments.get(ctx.environmentName);
    ctx.token = tokenIn(ctx, hash, found);
    const { environment, target } = ctx;
    ctx.route = environment?.routes.get(target.routeName);
    if (ctx.route === undefined) {
      ctx.unusableRoute = environment?.refusedNames.get(target.routeName)?.route;
    }
    ctx.timeoutMs = ctx.route?.settings.timeout_ms ?? ctx.unusableRoute?.timeoutMs ?? 0;
    return undefined;
  };
}

/** The environment that a caller means on a host that no route names. */
export function environmentByCaller(options: ResolveRouteOptions): ReachOptions['environmentOf'] {
  const tokenOf = tokenReader(options);
  return (table, inbound) => {
    const { hash } = tokenOf(inbound.raw, inbound, inbound.common);
    const token = hash === undefined ? undefined : findToken(table, hash);
    return environmentOf(inbound, token, options.defaultEnvironment);
  };
}

function tokenReader({ hashOf }: ResolveRouteOptions) {
  return cacheByFields(
    (_raw, inbound: InboundHeaders) => presentedToken(inbound, hashOf),
    carriesToken,
  );
}

function carriesToken(rawName: string): boolean {
  const { name } = inboundField(rawName);
  return name === 'authorization' || name === 'x-api-key';
}

interface PresentedToken {
  readonly field: TokenField;
  readonly hash: string;
}

const NO_TOKEN = { field: undefined, hash: undefined };

/** The token of a request; `Authorization` wins if there are two. */
function presentedToken(
  { authorization, apiKey }: InboundHeaders,
  hashOf: (secret: string) => string,
): PresentedToken | typeof NO_TOKEN {
  const secret = presentedTokenSecret(authorization);
  if (secret !== undefined) {
    return { field: apiKey === secret ? 'both' : 'authorization', hash: hashOf(secret) };
  }
  if (apiKey === undefined || !isTokenSecret(apiKey)) return NO_TOKEN;
  return { field: 'x-api-key', hash: hashOf(apiKey) };
}

/**
 * The token as this environment's configuration has it. The configuration of another environment may
 * be older, and a revoked token must not stay valid here until that one is updated.
 */
function tokenIn(
  ctx: RequestContext,
  hash: string | undefined,
  found: Token | undefined,
): Token | undefined {
  const { environment, environmentName = '' } = ctx;
  if (hash === undefined || found === undefined || environment === undefined) return found;
  return covers(found.environments, environmentName) ? environment.tokens.get(hash) : found;
}

function environmentOf(
  { environment: named }: InboundHeaders,
  token: Token | undefined,
  fallback: string,
): string {
  const [only] = token?.environments ?? [];
  // A header that names an environment outside the token's is refused later. Ignoring it would send
  // the caller to another environment than it asked for.
  if (only !== undefined && only !== '*' && token?.environments.length === 1) {
    return named !== undefined && !covers(token.environments, named) ? named : only;
  }
  return named ?? fallback;
}
