import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isForwardable } from '@gateway/shared/http/methods';
import { checkHead, checkHeaderLines, refuseField, refuseMethod } from '../request/check-head.ts';
import { SUB_PATH_REFUSALS } from '@gateway/shared/http/sub-path/refuse-sub-path';
import { isProxyPath, refuseSubPath } from '../request/proxy-path.ts';
import type { Stage } from '../request/stage.ts';
import type { Bulkheads } from './bulkheads.ts';
import { tooMany, type OverloadRefusals, type SlotKind } from './overload-refusals.ts';

export interface AdmitOptions {
  readonly overloads: OverloadRefusals;
  readonly maxHeaderLines: number;
  /** Whether the configuration of every environment is loaded; before that, a route could seem to be missing. */
  readonly ready: () => boolean;
  /** Whether that of every environment is served now; before that, a host could seem to be one of no route. */
  readonly complete: () => boolean;
}

/**
 * Refuses requests that no route could accept, and every request while no slot is free. Runs first, so that a
 * flood costs little and nothing uses a path before it is checked.
 */
export function createAdmit(options: AdmitOptions, bulkheads: Bulkheads, kind: SlotKind): Stage {
  return (ctx) => {
    if (bulkheads.isFull) throw options.overloads.refuseHere(kind, tooMany(kind));
    if (!options.ready()) throw notReady();
    if (!isForwardable(ctx.method)) throw refuseMethod(ctx.method);
    checkHeaderLines(ctx, options.maxHeaderLines);
    checkHead(ctx);
    const { routeName, path, hostEnvironment } = ctx.target;
    if (routeName === '' && (hostEnvironment === undefined || isProxyPath(path))) {
      if (!isProxyPath(path) && !options.complete()) throw notReady();
      throw new GatewayError('not_found', 'The path must name a route: /v1/proxy/{route}.');
    }
    const reason = refuseSubPath(ctx.target.subPath);
    if (reason === 'encodedControl') ctx.hasEncodedControl = true;
    else if (reason !== undefined) throw refuseField('path', SUB_PATH_REFUSALS[reason]);
    return undefined;
  };
}

function notReady(): GatewayError {
  return new GatewayError(
    'gateway_not_ready',
    'The configuration is not loaded yet, or not all of it.',
    { headers: { 'retry-after': '1' } },
  );
}
