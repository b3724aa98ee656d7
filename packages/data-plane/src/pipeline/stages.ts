import { createAdmit, type AdmitOptions } from '../stages/admit.ts';
import { createAuthenticate, type AuthenticateOptions } from '../stages/authenticate.ts';
import { createAuthorize } from '../stages/authorize.ts';
import { createPickVersion } from '../stages/pick-version.ts';
import { createMaxForwards } from '../stages/max-forwards.ts';
import { createForward, type ForwardOptions } from '../stages/forward.ts';
import { createIdempotency, type IdempotencyOptions } from '../stages/idempotency.ts';
import { createQuota, type QuotaOptions } from '../stages/quota.ts';
import { createRequireCredential } from '../stages/require-credential.ts';
import { createResolveRoute, type ResolveRouteOptions } from '../stages/resolve-route.ts';
import { createUnkeyedUpgrade } from '../stages/unkeyed-upgrade.ts';
import type { AccessOptions } from './refuse-access.ts';
import type { Stage } from './stage.ts';

export interface StageOptions {
  readonly admit: AdmitOptions;
  readonly resolveRoute: ResolveRouteOptions;
  readonly access: AccessOptions;
  readonly authenticate: AuthenticateOptions;
  readonly quota: QuotaOptions;
  readonly idempotency: IdempotencyOptions;
  readonly forward: ForwardOptions;
}

/**
 * What decides whether a request may go on, an upgrade to WebSocket too.
 * The order is the policy; docs/request-flow.md gives the reason for each place.
 */
function createGateStages(options: StageOptions): readonly Stage[] {
  return [
    createAdmit(options.admit),
    createResolveRoute(options.resolveRoute),
    createAuthenticate(options.authenticate),
    createAuthorize(options.access),
    createPickVersion(),
    createRequireCredential(),
    createQuota(options.quota),
  ];
}

/** Every stage of a proxied request, in order. The response and the record follow, in server/. */
export function createStages(options: StageOptions): readonly Stage[] {
  return [
    ...createGateStages(options),
    createMaxForwards(),
    createIdempotency(options.idempotency),
    createForward(options.forward),
  ];
}

/** The stages of a request to upgrade, before its tunnel. */
export function createUpgradeStages(options: StageOptions): readonly Stage[] {
  return [...createGateStages(options), createUnkeyedUpgrade()];
}
