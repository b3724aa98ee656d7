import type { Affinities } from '../affinity/affinities.ts';
import { addressGroup } from '@gateway/shared/net/client-address';
import type { RequestContext } from '../request/context.ts';
import { refuseField } from '../request/check-head.ts';
import type { Stage } from '../request/stage.ts';
import { chooseVersion } from './choose-version.ts';
import type { CompiledRoute, CompiledVersion } from '../routing-table/routing-table.ts';

/** The header by which a caller chooses a version. */
const PIN_HEADER = 'x-gateway-version';

/**
 * Picks the version of the route for the request: the one that `X-Gateway-Version` names, else the one that has its
 * session, else one by the weights, always the same for a caller. Runs after authorization, because only callers of a
 * route may learn its versions, and before the quota, so that a wrong name and an unknown session use no quota.
 */
export function createPickVersion(affinities: Pick<Affinities, 'of'>): Stage {
  return (ctx) => {
    const { route } = ctx;
    if (route === undefined) return undefined;
    const { version: pinned } = ctx.inbound;
    const named = pinned === undefined ? undefined : versionNamed(route, pinned);
    if (route.affinity !== undefined) {
      ctx.applied('affinity');
      const versions = named === undefined ? route.versions : [named];
      ctx.affinity = affinities.of(ctx, route.affinity, versions, (session) =>
        isOfCallersVersion(versions, ctx, session),
      );
    }
    ctx.version = named ?? versionFor(route, ctx);
    return undefined;
  };
}

function versionFor(route: CompiledRoute, ctx: RequestContext): CompiledVersion | undefined {
  const { versions } = route;
  // A route that answers itself has none.
  if (versions.length <= 1) return versions[0];
  // By /64 network in IPv6, like quotas: a device there changes its address every few hours.
  const caller = ctx.principal ?? ctx.affinity?.caller ?? addressGroup(ctx.clientIp);
  const chosen = chooseVersion(versions, caller);
  return ctx.affinity === undefined ? chosen : ctx.affinity.versionOf(versions, chosen);
}

/** Whether a new session gets the version of its caller. It keeps that version when the caller has another address. */
function isOfCallersVersion(
  versions: readonly CompiledVersion[],
  ctx: RequestContext,
  session: string,
): boolean {
  if (versions.length === 1 || ctx.principal !== undefined) return true;
  const address = addressGroup(ctx.clientIp);
  return chooseVersion(versions, session) === chooseVersion(versions, address);
}

function versionNamed(route: CompiledRoute, name: string): CompiledVersion {
  const version = route.versions.find((one) => one.name === name);
  if (version === undefined) {
    throw refuseField(PIN_HEADER, `must name a version of the route ${route.name}`);
  }
  return version;
}
