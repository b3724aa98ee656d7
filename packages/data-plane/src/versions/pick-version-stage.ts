import { addressGroup } from '@gateway/shared/net/client-address';
import type { RequestContext } from '../request/context.ts';
import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';
import { chooseVersion } from './choose-version.ts';
import type { CompiledRoute, CompiledVersion } from '../routing-table/routing-table.ts';

/** The header by which a caller chooses a version. */
const PIN_HEADER = 'x-gateway-version';

/**
 * Picks the version of the route for the request: the one that `X-Gateway-Version` names, else one by the
 * weights, always the same for a caller. Runs after authorization, because only callers of a route may
 * learn its versions, and before the quota, so that a wrong name uses no quota.
 */
export function createPickVersion(): Stage {
  return (ctx) => {
    const { route } = ctx;
    if (route === undefined) return undefined;
    const { version: pinned } = ctx.inbound;
    ctx.version = pinned === undefined ? versionFor(route, ctx) : versionNamed(route, pinned);
    return undefined;
  };
}

function versionFor(route: CompiledRoute, ctx: RequestContext): CompiledVersion | undefined {
  const { versions } = route;
  if (versions.length === 1) return versions[0];
  // By /64 network in IPv6, like quotas: a device there changes its address every few hours.
  return chooseVersion(versions, ctx.principal ?? addressGroup(ctx.clientIp));
}

function versionNamed(route: CompiledRoute, name: string): CompiledVersion {
  const version = route.versions.find((one) => one.name === name);
  if (version === undefined) {
    throw refuseField(PIN_HEADER, `must name a version of the route ${route.name}`);
  }
  return version;
}
