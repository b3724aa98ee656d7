import { createBulkhead, type BulkheadStageOptions } from './limits/bulkhead-stage.ts';
import type { Bulkheads } from './limits/bulkheads.ts';
import type { SlotKind } from './limits/overload-refusals.ts';
import { createAdmit, type AdmitOptions } from './limits/admit-stage.ts';
import { createPreflight, type PreflightStageOptions } from './cors/preflight-stage.ts';
import { createCheckOrigin } from './cors/origin-stage.ts';
import { createAuthenticate, type AuthenticateOptions } from './access/authenticate-stage.ts';
import type { Affinities } from './affinity/affinities.ts';
import { createAuthorize } from './access/authorize-stage.ts';
import { createPickVersion } from './versions/pick-version-stage.ts';
import { createAnswer, createMaxForwards } from './request/max-forwards-stage.ts';
import type { ForwardOptions } from './upstream/forward-stage.ts';
import { createIdempotency, type IdempotencyOptions } from './idempotency/idempotency-stage.ts';
import { createQuota, type QuotaOptions } from './quota/quota-stage.ts';
import { createRequireCredential } from './upstream/require-credential-stage.ts';
import { createResolveRoute, type ResolveRouteOptions } from './request/resolve-route-stage.ts';
import { createUnkeyedUpgrade } from './idempotency/unkeyed-upgrade-stage.ts';
import type { AccessOptions } from './access/refuse-access.ts';
import type { NamedStage } from './request/stage.ts';

/** The stages that decide about a request before it is forwarded. */
export interface DecidingStageOptions {
  readonly admit: AdmitOptions;
  /** The slots of requests, and those of WebSockets. */
  readonly bulkheads: Readonly<Record<SlotKind, Bulkheads>>;
  readonly limits: Pick<BulkheadStageOptions, 'adaptiveLimits' | 'overloads'>;
  readonly resolveRoute: ResolveRouteOptions;
  readonly preflight: PreflightStageOptions;
  readonly access: AccessOptions;
  readonly authenticate: AuthenticateOptions;
  readonly affinities: Pick<Affinities, 'of'>;
  readonly quota: QuotaOptions;
  readonly idempotency: IdempotencyOptions;
}

export interface StageOptions extends DecidingStageOptions {
  readonly forward: ForwardOptions;
}

/*
 * The stages that decide whether a request or a WebSocket upgrade may proceed.
 * The order is the policy; docs/understand/request-flow.md gives the reason for each place.
 */

function arrivalStages(options: DecidingStageOptions, kind: SlotKind) {
  return [
    ['admit', createAdmit(options.admit, options.bulkheads[kind], kind)],
    ['resolve_route', createResolveRoute(options.resolveRoute)],
  ] as const satisfies readonly NamedStage[];
}

function accessStages(options: DecidingStageOptions) {
  return [
    ['authenticate', createAuthenticate(options.authenticate)],
    ['authorize', createAuthorize(options.access)],
  ] as const satisfies readonly NamedStage[];
}

function shareStages(options: DecidingStageOptions, kind: SlotKind) {
  const bulkheads = options.bulkheads[kind];
  return [
    ['pick_version', createPickVersion(options.affinities)],
    ['require_credential', createRequireCredential()],
    ['bulkhead', createBulkhead({ bulkheads, ...options.limits, kind })],
    ['quota', createQuota(options.quota)],
    ['answer', createAnswer()],
  ] as const satisfies readonly NamedStage[];
}

/** The stages of a proxied request before it is forwarded, in order. */
export function decidingStages(options: DecidingStageOptions) {
  return [
    ...arrivalStages(options, 'requests'),
    ['preflight', createPreflight(options.preflight)],
    ...accessStages(options),
    ...shareStages(options, 'requests'),
    ['max_forwards', createMaxForwards()],
    ['idempotency', createIdempotency(options.idempotency)],
  ] as const satisfies readonly NamedStage[];
}

/** The same for a request that is no preflight, so that it costs no call to find that out. */
export function withoutPreflight(stages: readonly NamedStage[]): readonly NamedStage[] {
  return stages.filter(([name]) => name !== 'preflight');
}

/** The stages of a WebSocket upgrade before it is forwarded, in order. */
export function upgradeStages(options: DecidingStageOptions): readonly NamedStage[] {
  return [
    ...arrivalStages(options, 'websockets'),
    ...accessStages(options),
    ['origin', createCheckOrigin()],
    ...shareStages(options, 'websockets'),
    ['idempotency', createUnkeyedUpgrade(options.idempotency.count)],
  ];
}
