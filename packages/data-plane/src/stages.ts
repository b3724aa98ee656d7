import { createBulkhead } from './limits/bulkhead-stage.ts';
import type { Bulkheads } from './limits/bulkheads.ts';
import type { SlotKind } from './limits/overloads.ts';
import { createAdmit, type AdmitOptions } from './limits/admit-stage.ts';
import { createAuthenticate, type AuthenticateOptions } from './access/authenticate-stage.ts';
import { createAuthorize } from './access/authorize-stage.ts';
import { createPickVersion } from './versions/pick-version-stage.ts';
import { createMaxForwards } from './request/max-forwards-stage.ts';
import { createForward, type ForwardOptions } from './upstream/forward-stage.ts';
import { createIdempotency, type IdempotencyOptions } from './idempotency/idempotency-stage.ts';
import { createQuota, type QuotaOptions } from './quota/quota-stage.ts';
import { createRequireCredential } from './upstream/require-credential-stage.ts';
import { createResolveRoute, type ResolveRouteOptions } from './request/resolve-route-stage.ts';
import { createUnkeyedUpgrade } from './idempotency/unkeyed-upgrade-stage.ts';
import type { AccessOptions } from './access/refuse-access.ts';
import type { Stage } from './request/stage.ts';

export interface StageOptions {
  readonly admit: AdmitOptions;
  /** The slots of requests, and those of WebSockets. */
  readonly bulkheads: Readonly<Record<SlotKind, Bulkheads>>;
  readonly resolveRoute: ResolveRouteOptions;
  readonly access: AccessOptions;
  readonly authenticate: AuthenticateOptions;
  readonly quota: QuotaOptions;
  readonly idempotency: IdempotencyOptions;
  readonly forward: ForwardOptions;
}

/**
 * The stages that decide whether a request or a WebSocket upgrade may proceed.
 * The order is the policy; docs/understand/request-flow.md gives the reason for each place.
 */
function createGateStages(options: StageOptions, kind: SlotKind): readonly Stage[] {
  const { overloads, adaptiveLimits } = options.forward;
  const bulkheads = options.bulkheads[kind];
  return [
    createAdmit(options.admit, bulkheads, kind),
    createResolveRoute(options.resolveRoute),
    createAuthenticate(options.authenticate),
    createAuthorize(options.access),
    createPickVersion(),
    createRequireCredential(),
    createBulkhead({ bulkheads, adaptiveLimits, overloads, kind }),
    createQuota(options.quota),
  ];
}

/** All stages of a proxied request, in order. The proxy handler then sends the response and the record. */
export function createStages(options: StageOptions): readonly Stage[] {
  return [
    ...createGateStages(options, 'requests'),
    createMaxForwards(),
    createIdempotency(options.idempotency),
    createForward(options.forward),
  ];
}

/** The stages of a WebSocket upgrade, in order. */
export function createUpgradeStages(options: StageOptions): readonly Stage[] {
  return [
    ...createGateStages(options, 'websockets'),
    createUnkeyedUpgrade(),
    createForward(options.forward, 'websocket'),
  ];
}
