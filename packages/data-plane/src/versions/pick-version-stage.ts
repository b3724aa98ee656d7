import { addressGroup } from '@gateway/shared/net/client-address';
import type { RequestContext } from '../request/context.ts';
import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';
import { chooseVersion } from './choose-version.ts';
import type { CompiledRoute, CompiledVersion } from '../routing-table/routing-table.ts';

/** The field by which a caller chooses a version itself. */
const PIN_HEADER = 'x-gateway-version';

/**
 * Picks the version of the route that the request goes to: the one that `X-Gateway-Version` names,
 * else one by the weights, always the same for a caller. Runs after authorization, as the versions of
 * a route are told to its callers only, and before the quota, so that a wrong name spends nothing.
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
  // By network in IPv6, as quotas are: a device there takes a new address every few hours.
  return chooseVersion(versions, ctx.principal ?? addressGroup(ctx.clientIp));
}

function versionNamed(route: CompiledRoute, name: string): CompiledVersion {
  const version = route.versions.find((one) => one.name === name);
  if (version === undefined) {
    throw refuseField(PIN_HEADER, `must name a version of the route ${route.name}`);
  }
  return version;
}
