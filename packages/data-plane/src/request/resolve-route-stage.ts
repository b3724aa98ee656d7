import { covers } from '@gateway/shared/tokens/scopes';
import { bearerCredential } from '@gateway/shared/http/headers';
import { hashTokenSecret, isTokenSecret } from '@gateway/shared/tokens/secret';
import { findToken, type Token } from '../routing-table/routing-table.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

export interface ResolveRouteOptions {
  readonly defaultEnvironment: string;
}

/**
 * Finds the environment and, in it, the route; refuses nothing, as an unknown route is only told to a
 * caller who has authenticated. The environment is the token's only one, else the one that
 * `X-Gateway-Environment` names, else the default (DESIGN section 2 "Environments, tokens, scopes").
 * A token counts in whichever field it came; whether the route takes it there is seen later.
 */
export function createResolveRoute(options: ResolveRouteOptions): Stage {
  return (ctx) => {
    const hash = presentedHash(ctx);
    const found = hash === undefined ? undefined : findToken(ctx.table, hash);
    ctx.environmentName = environmentOf(ctx, found, options.defaultEnvironment);
    ctx.environment = ctx.table.environments.get(ctx.environmentName);
    ctx.token = tokenIn(ctx, hash, found);
    ctx.route = ctx.environment?.routes.get(ctx.target.routeName);
    ctx.deadlineMs = ctx.startedMs + (ctx.route?.timeoutMs ?? 0);
    return undefined;
  };
}

/** The hash of the token that the request brings; of two, that in `Authorization`. */
function presentedHash(ctx: RequestContext): string | undefined {
  const bearer = bearerCredential(ctx.inbound.authorization);
  if (bearer !== undefined && isTokenSecret(bearer)) {
    ctx.tokenField = 'authorization';
    return hashTokenSecret(bearer);
  }
  const { apiKey } = ctx.inbound;
  if (apiKey === undefined || !isTokenSecret(apiKey)) return undefined;
  ctx.tokenField = 'x-api-key';
  return hashTokenSecret(apiKey);
}

/**
 * The environment's own word on a token that covers it: news of another environment may be older, and
 * a token that was revoked must not live on here for as long as it does there.
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

function environmentOf(ctx: RequestContext, token: Token | undefined, fallback: string): string {
  const named = ctx.inbound.environment;
  const [only] = token?.environments ?? [];
  // A header that names an environment beyond the token is refused later; it is not passed over, as
  // the caller would then reach another environment than the one that it asked for.
  if (only !== undefined && only !== '*' && token?.environments.length === 1) {
    return named !== undefined && !covers(token.environments, named) ? named : only;
  }
  return named ?? fallback;
}
