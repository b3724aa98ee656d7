import { covers } from '@gateway/shared/tokens/scopes';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { refuseAccess, type AccessOptions } from './refuse-access.ts';
import type { Stage } from '../request/stage.ts';

/**
 * Makes sure that the caller may use this route of this environment. Which of its reaches falls short
 * is said, as the caller has authenticated; whether the route exists is said only within its reach.
 */
export function createAuthorize(options: AccessOptions): Stage {
  return (ctx) => {
    const { token, route, environmentName = '', target } = ctx;
    if (token !== undefined) {
      if (!token.mayProxy) refuseAccess(ctx, options, 'The token lacks the scope `proxy`.');
      if (!covers(token.environments, environmentName)) {
        refuseAccess(ctx, options, 'The token does not cover this environment.');
      }
      if (!token.routes.has('*') && !token.routes.has(target.routeName)) {
        refuseAccess(ctx, options, 'The token does not cover this route.');
      }
    }
    if (route === undefined) {
      throw new GatewayError(
        'route_not_found',
        ctx.environment === undefined
          ? 'There is no environment of this name, so it has no routes.'
          : `No route of this name exists in the environment ${environmentName}.`,
      );
    }
    if (route.methods !== undefined && !route.methods.has(ctx.method)) {
      throw new GatewayError(
        'method_not_allowed',
        `The route ${route.name} does not take ${ctx.method}.`,
        { headers: { allow: [...route.methods].join(', ') } },
      );
    }
    return undefined;
  };
}
