import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { Clock } from '@gateway/shared/clock';
import type { RandomSource } from '@gateway/shared/ids';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type { IdempotencyStore } from './store/idempotency-store.ts';
import { StoredIdempotencyKeys, type IdempotencyKeys, type KeyForecasts } from './keys.ts';
import { createIdempotencyMetrics, type IdempotencyMetrics } from './idempotency-metrics.ts';
import { ResponseVault } from './store/response-vault.ts';

export interface OpenKeysOptions {
  readonly store: IdempotencyStore;
  readonly masterKeys: readonly MasterKey[];
  readonly clock: Clock;
  /** How far the clock of the NATS server is ahead of the local one, ms; undefined if it is unknown. */
  readonly clockOffsetMs: () => number | undefined;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly registry: Registry;
  /** The number of duplicates of this process that may wait at one time. */
  readonly maxWaiting: number;
}

export interface OpenedKeys {
  readonly keys: IdempotencyKeys & KeyForecasts;
  readonly metrics: IdempotencyMetrics;
}

/** Creates the idempotency keys of a data plane, with their metrics. */
export function openIdempotencyKeys(options: OpenKeysOptions): OpenedKeys {
  const { store, clock, clockOffsetMs, random, log, maxWaiting } = options;
  const metrics = createIdempotencyMetrics(options.registry, {
    waiting: () => keys.waiting,
    held: () => keys.held,
    hasRoom: () => store.hasRoom,
  });
  const keys = new StoredIdempotencyKeys({
    store,
    vault: new ResponseVault(options.masterKeys, random),
    clock,
    sharedNowMs: () => clock.nowMs() + (clockOffsetMs() ?? 0),
    random,
    log,
    metrics,
    maxWaiting,
  });
  return { keys, metrics };
}
