import { STAND_IN_SECRET } from '@gateway/shared/explain/explain-messages';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import { hashTokenSecret } from '@gateway/shared/tokens/secret';
import type { AuthFailures } from '../access/auth-failures.ts';
import type { DryJwtVerifier } from '../access/jwt/jwt-verifier.ts';
import type { AccessOptions } from '../access/refuse-access.ts';
import type { HeldKey } from '../idempotency/claim.ts';
import type { IdempotencyKeys, KeyForecast, KeyForecasts } from '../idempotency/keys.ts';
import type { AdaptiveLimits } from '../limits/adaptive/adaptive-limits.ts';
import { FairSlots } from '../limits/bulkheads.ts';
import { UNCOUNTED_REFUSALS } from '../limits/overload-refusals.ts';
import type { QuotaView, QuotaViews } from '../quota/quota-view.ts';
import type { RoutingTable } from '../routing-table/routing-table.ts';
import type { DecidingStageOptions } from '../stages.ts';

/** What the stages look at. They are those of the data path. */
export interface DryStageParts {
  readonly stages: DecidingStageOptions;
  readonly adaptiveLimits: Pick<AdaptiveLimits, 'of'>;
  readonly failures: Pick<AuthFailures, 'left' | 'hasSignatureCheck'>;
  readonly jwts: DryJwtVerifier;
  readonly quotas: QuotaViews;
  readonly keys: KeyForecasts;
}

/** What the stages found out on their way. */
export interface Findings {
  quota: QuotaView | undefined;
  key: KeyForecast | 'unavailable' | undefined;
}

/** The request would wait for another one, so its end cannot be said. */
export class WouldWaitError extends Error {
  override readonly name = 'WouldWaitError';
}

/**
 * The options of the stages of the data path with which they decide as always, and have no effect: they count, take,
 * claim and fetch nothing. The slots are the real ones; see `explainRequest`.
 */
export function dryStageOptions(
  { stages, adaptiveLimits, failures, jwts, quotas, keys }: DryStageParts,
  tokenHash: string | undefined,
  findings: Findings,
): DecidingStageOptions {
  const { allowance } = stages.preflight;
  const access: AccessOptions = {
    nowMs: stages.access.nowMs,
    complete: stages.access.complete,
    failures: {
      count: (address, nowMs) => afterOneMore(failures.left(address, nowMs)),
      beginSignatureCheck: (address, nowMs) =>
        failures.hasSignatureCheck(address, nowMs) ? () => undefined : undefined,
    },
  };
  return {
    bulkheads: stages.bulkheads,
    admit: { ...stages.admit, overloads: UNCOUNTED_REFUSALS },
    limits: {
      overloads: UNCOUNTED_REFUSALS,
      adaptiveLimits: {
        of(serviceId) {
          const limit = adaptiveLimits.of(serviceId);
          return limit && { limit: limit.limit, hasRoom: () => !limit.isReached };
        },
      },
    },
    resolveRoute: {
      ...stages.resolveRoute,
      hashOf: (secret) =>
        secret === STAND_IN_SECRET && tokenHash !== undefined ? tokenHash : hashTokenSecret(secret),
    },
    preflight: {
      ...stages.preflight,
      allowance: {
        left: (address, nowMs) => allowance.left(address, nowMs),
        count: (address, nowMs) => afterOneMore(allowance.left(address, nowMs)),
      },
    },
    access,
    authenticate: {
      ...stages.authenticate,
      ...access,
      overloads: UNCOUNTED_REFUSALS,
      // A request whose JWT is known takes no slot. This one never waits for keys, so it needs none of the real ones.
      waiting: new FairSlots(1),
      jwts: {
        verify: (auth, token, _deadlineMs, mayCheck) =>
          jwts.verifyWithoutEffect(auth, token, mayCheck),
      },
    },
    affinities: stages.affinities,
    quota: {
      clock: stages.quota.clock,
      store: {
        async take(policy, subject, nowMs) {
          const view = await quotas.view(policy, subject, nowMs);
          findings.quota = view;
          return view.basis === 'others' ? { ...view, granted: true } : view;
        },
      },
    },
    idempotency: {
      ...stages.idempotency,
      keys: dryKeys(keys, findings),
      count: () => undefined,
      dropped: () => undefined,
    },
  };
}

function afterOneMore(window: FixedWindow): FixedWindow {
  return { ...window, remaining: Math.max(0, window.remaining - 1) };
}

/** The hash of a secret of the token, the one that is valid longest; undefined if this data plane does not know it. */
export function hashOfToken(table: RoutingTable, tokenId: string): string | undefined {
  let found: { readonly hash: string; readonly expiresAtMs: number } | undefined;
  for (const { tokens } of table.environments.values()) {
    for (const [hash, { id, expiresAtMs }] of tokens) {
      if (id !== tokenId) continue;
      if (found === undefined || expiresAtMs > found.expiresAtMs) found = { hash, expiresAtMs };
    }
  }
  return found?.hash;
}

const NOT_HELD: HeldKey = {
  over: new Promise(() => undefined),
  held: true,
  completed: () => undefined,
  unsent: () => undefined,
  outcomeUnknown: () => undefined,
};

function dryKeys(keys: KeyForecasts, findings: Findings): IdempotencyKeys {
  return {
    async begin(request) {
      findings.key = 'unavailable';
      const forecast = await keys.forecast(request);
      findings.key = forecast;
      switch (forecast.kind) {
        case 'claim':
          return { kind: 'run', claim: NOT_HELD, after: forecast.after };
        case 'wait':
          throw new WouldWaitError(
            `The request waits for ${forecast.firstId}, which has this key, until its own deadline. It then gets the stored response.`,
          );
        case 'replay':
        case 'refuse':
          return forecast;
      }
    },
    drain: () => Promise.resolve(),
  };
}
