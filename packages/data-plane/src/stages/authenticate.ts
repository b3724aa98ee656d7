import { refuseAccess, type AccessOptions } from '../pipeline/refuse-access.ts';
import type { Stage } from '../pipeline/stage.ts';

/**
 * Makes sure who calls. Runs before anything is told about routes, and before the quota, so that a
 * caller without a token spends nothing of a route's.
 */
export function createAuthenticate(options: AccessOptions): Stage {
  return (ctx) => {
    const auth = ctx.route?.auth.type;
    if (auth === 'none') {
      ctx.token = undefined;
      return undefined;
    }
    // Never passed over: a route whose proof cannot be checked here is open to nobody.
    if (auth !== undefined && auth !== 'token') {
      refuseAccess(ctx, options, `The route asks for ${auth}, which is not served here.`);
    }
    const { token } = ctx;
    if (ctx.inbound.authorization === undefined) {
      refuseAccess(ctx, options, 'The request carries no token.');
    }
    if (token === undefined) refuseAccess(ctx, options, 'The token is not valid.');
    if (options.nowMs() >= token.expiresAtMs) {
      refuseAccess(ctx, options, 'The token has expired.');
    }
    ctx.principal = token.id;
    return undefined;
  };
}
