import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { refuseField } from '../request/check-head.ts';
import { rewriteTarget } from '../request/rewrite/rewrite-target.ts';
import { SUB_PATH_REFUSALS } from '@gateway/shared/http/sub-path/refuse-sub-path';
import { kindRefusal, reachRefusal } from './access-rules.ts';
import { refuseAccess, requireServed, type AccessOptions } from './refuse-access.ts';
import type { Stage } from '../request/stage.ts';

/** By then a mended configuration may have arrived. */
const RETRY_AFTER_SECONDS = '5';

/**
 * Checks that the caller may use this route in this environment. The caller is authenticated, so the message names what
 * the token does not cover. Only a token that covers the route learns whether the route exists, and then whether it
 * takes this kind of credential, and whether it can be used.
 */
export function createAuthorize(options: AccessOptions): Stage {
  return (ctx) => {
    const { route, unusableRoute, environmentName = '' } = ctx;
    const beyond = reachRefusal(ctx);
    if (beyond !== undefined) refuseAccess(ctx, options, beyond);
    if (unusableRoute !== undefined) {
      const refusal = kindRefusal(ctx, unusableRoute.auth);
      if (refusal !== undefined) refuseAccess(ctx, options, refusal);
      throw new GatewayError(
        'route_unusable',
        `This data plane cannot use the configuration of the route ${unusableRoute.name}.`,
        { headers: { 'retry-after': RETRY_AFTER_SECONDS } },
      );
    }
    if (route === undefined) {
      requireServed(ctx, options);
      throw new GatewayError(
        'route_not_found',
        ctx.environment === undefined
          ? 'The environment does not exist.'
          : `The route does not exist in the environment ${environmentName}.`,
      );
    }
    const refusal = kindRefusal(ctx, route.auth);
    if (refusal !== undefined) refuseAccess(ctx, options, refusal);
    if (!route.methods.has(ctx.method)) {
      throw new GatewayError(
        'method_not_allowed',
        `The route ${route.name} does not accept ${ctx.method}.`,
        { headers: { allow: [...route.methods].join(', ') } },
      );
    }
    if (ctx.hasEncodedControl && !route.settings.allow_encoded_control_characters) {
      throw refuseField('path', SUB_PATH_REFUSALS.encodedControl);
    }
    if (route.rewrite !== undefined) {
      const { allow_encoded_control_characters: allows } = route.settings;
      ctx.rewritten = rewriteTarget(ctx, route.rewrite, allows);
    }
    return undefined;
  };
}
