import type { Clock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NatsConnection } from '@nats-io/nats-core';
import type { Registry } from 'prom-client';
import { createConfigMetrics } from './config-metrics.ts';
import {
  createEnvironmentIntake,
  type EnvironmentIntake,
  type Served,
} from './environment-intake.ts';
import type { LastGoodStore } from './last-good.ts';
import { linkNats } from './nats-link.ts';
import { watchPointers, type PointerWatch } from './pointer-watch.ts';
import { createSnapshotFetch } from './snapshot-fetch.ts';

export interface ConfigSyncStatus {
  /** Whether changes are being delivered from NATS now. */
  readonly connected: boolean;
  /**
   * Whether requests can be answered rightly: the last-good files were found, or everything that NATS
   * held at the start is served. Once true it stays so. Before, an environment that is there would be
   * answered as one that is not. What cannot be taken at the first try keeps nobody waiting.
   */
  readonly loaded: boolean;
  /** What is served, by environment. */
  readonly environments: ReadonlyMap<string, Served>;
  /** Why the newest configuration of some environment is not served; without any of its content. */
  readonly lastError: string | undefined;
}

export interface ConfigSync {
  /** As `status.loaded`, cheap enough for every request. */
  isLoaded(): boolean;
  /** Whether there is such an environment in NATS of which no configuration could be served yet. */
  isUnserved(environment: string): boolean;
  /** As of now; read it again for news. */
  readonly status: ConfigSyncStatus;
  /** Resolves once the last-good files, if any, are served; never rejects. */
  readonly restored: Promise<void>;
  stop(): Promise<void>;
}

export interface ConfigSyncOptions {
  /** As `connectNats` gives it: NATS may be away, and come up at any time. */
  readonly nats: Promise<NatsConnection>;
  readonly keys: readonly MasterKey[];
  readonly lastGood: LastGoodStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Compiles and swaps. May throw: then the snapshot is refused, and the old one serves on. */
  readonly apply: (snapshot: Snapshot) => void;
  /** Gives numbers in [0, 1). */
  readonly random?: () => number;
}

/** Far above any use; whoever may write to NATS must not be able to fill a data plane's memory. */
const MAX_ENVIRONMENTS = 1000;

/**
 * Keeps the configuration of all environments up to date: first from the last-good files, then from
 * NATS for as long as the process runs (DESIGN section 4 "Config"). Nothing is thrown out of it.
 */
export function startConfigSync(options: ConfigSyncOptions): ConfigSync {
  const { clock, log, lastGood, keys } = options;
  const random = options.random ?? Math.random;
  const intakes = new Map<string, EnvironmentIntake>();
  const writes = new Set<Promise<void>>();
  let stopped = false;
  let watch: PointerWatch | undefined;
  const metrics = createConfigMetrics(options.registry, () => watch?.connected ?? false);
  const link = linkNats(options.nats, log);
  const fetch = createSnapshotFetch(link, clock);
  let keepingFails = false;
  let caughtUp = false;
  let loaded = false;

  function isLoaded(): boolean {
    if (loaded) return true;
    const all = [...intakes.values()];
    const settled = all.every(({ served, error }) => served !== undefined || error !== undefined);
    loaded = caughtUp && settled && all.some(({ served }) => served !== undefined);
    return loaded;
  }

  /** Serving does not depend on it: a full disk costs the next restart's independence of NATS. */
  function keep(write: Promise<void>): void {
    const watched = write.then(
      () => void (keepingFails = false),
      (error: unknown) => {
        metrics.lastGoodFailures.inc();
        if (keepingFails) return;
        keepingFails = true;
        log.error({ reason: String(error) }, 'the last-good configuration cannot be written');
      },
    );
    writes.add(watched);
    void watched.then(() => writes.delete(watched));
  }

  function intakeOf(environment: string): EnvironmentIntake | undefined {
    const known = intakes.get(environment);
    if (known !== undefined) return known;
    if (intakes.size >= MAX_ENVIRONMENTS) {
      metrics.refused.inc({ reason: 'too_many_environments' });
      return undefined;
    }
    const intake = createEnvironmentIntake({
      environment,
      keys,
      clock,
      random,
      log,
      metrics,
      fetch,
      apply: options.apply,
      onServed: (text, bytes) => keep(lastGood.save(environment, text, bytes)),
    });
    intakes.set(environment, intake);
    return intake;
  }

  async function restore(): Promise<void> {
    for (const { pointer, snapshot } of await lastGood.load()) {
      if (stopped) return;
      intakeOf(pointer.environment)?.restore(pointer, snapshot);
    }
    loaded = [...intakes.values()].some(({ served }) => served !== undefined);
  }

  const restored = restore()
    .catch((error: unknown) => {
      log.error({ reason: String(error) }, 'the last-good configurations cannot be read');
    })
    .then(() => {
      // After the files, so that none of them comes in the way of something newer.
      if (stopped) return;
      watch = watchPointers({
        link,
        clock,
        random,
        log,
        onNews: ({ environment, text }) => intakeOf(environment)?.offer(text),
        onCaughtUp: () => void (caughtUp = true),
      });
    });

  return {
    restored,
    isLoaded,
    isUnserved(environment) {
      const intake = intakes.get(environment);
      return intake !== undefined && intake.served === undefined;
    },
    get status() {
      const environments = new Map<string, Served>();
      let lastError: string | undefined;
      for (const [environment, { served, error }] of intakes) {
        if (served !== undefined) {
          const { version, source, appliedAtMs } = served;
          environments.set(environment, { version, source, appliedAtMs });
        }
        lastError ??= error;
      }
      const connected = watch?.connected ?? false;
      return { connected, loaded: isLoaded(), environments, lastError };
    },
    async stop() {
      stopped = true;
      await restored;
      await watch?.stop();
      await Promise.all([...intakes.values()].map((intake) => intake.stop()));
      await Promise.all(writes);
    },
  };
}
