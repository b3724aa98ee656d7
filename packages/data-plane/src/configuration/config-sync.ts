import type { Clock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import {
  CONFIG_LOG_SUBJECTS,
  configWantedSubject,
  environmentOfSubject,
  NAMES,
} from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Registry } from 'prom-client';
import type { ConfigTarget } from './config-target.ts';
import { createConfigMetrics } from './config-metrics.ts';
import { createEnvironmentIntake, type EnvironmentIntake } from './environment-intake.ts';
import type { LastGoodStore } from './last-good.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import type { Served } from './served-configuration.ts';
import { createSnapshotFetch } from './snapshot-fetch.ts';
import { watchStream, type StreamWatch } from '../nats/stream-watch.ts';

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
  /** The same of each environment of which it is not. */
  readonly errors: ReadonlyMap<string, string>;
  /** Why the newest configuration of some environment is not on the disk, for a restart without NATS. */
  readonly lastGoodError: string | undefined;
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

export interface ConfigSyncOptions extends ConfigTarget {
  readonly link: NatsLink;
  readonly keys: readonly MasterKey[];
  readonly lastGood: LastGoodStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Gives numbers in [0, 1). */
  readonly random?: () => number;
}

/** Far above any use; whoever may write to NATS must not be able to fill a data plane's memory. */
const MAX_ENVIRONMENTS = 1000;

/**
 * Keeps the configuration of all environments up to date: first from the last-good files, then from
 * NATS for as long as the process runs. Nothing is thrown out of it.
 */
export function startConfigSync(options: ConfigSyncOptions): ConfigSync {
  const { link, clock, log, lastGood, keys } = options;
  const random = options.random ?? Math.random;
  const intakes = new Map<string, EnvironmentIntake>();
  const writes = new Set<Promise<void>>();
  let stopped = false;
  let watches: { readonly pointers: StreamWatch; readonly log: StreamWatch } | undefined;
  const isConnected = () => watches?.pointers.connected === true && watches.log.connected;
  const metrics = createConfigMetrics(options.registry, isConnected);
  const fetch = createSnapshotFetch(link, clock);
  let lastGoodError: string | undefined;
  const caughtUp = { pointers: false, log: false };
  let loaded = false;

  function isLoaded(): boolean {
    if (loaded) return true;
    const all = [...intakes.values()];
    const settled = all.every((intake) => intake.isSettled);
    loaded =
      caughtUp.pointers &&
      caughtUp.log &&
      settled &&
      all.some(({ served }) => served !== undefined);
    return loaded;
  }

  /** Serving does not depend on it: a full disk costs the next restart's independence of NATS. */
  function keep(write: Promise<void>): void {
    const watched = write.then(
      () => void (lastGoodError = undefined),
      (error: unknown) => {
        metrics.lastGoodFailures.inc();
        if (lastGoodError !== undefined) return;
        lastGoodError = `the last-good configuration cannot be written: ${String(error)}`;
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
    const kept = lastGood.of(environment);
    const intake = createEnvironmentIntake({
      environment,
      keys,
      clock,
      random,
      log,
      metrics,
      fetch,
      target: options,
      keeper: {
        snapshot: (text, bytes, version) => keep(kept.snapshot(text, bytes, version)),
        delta: (sealed, version) => keep(kept.delta(sealed, version)),
        isLong: () => kept.isLong(),
      },
      ask: () => link.connection?.publish(configWantedSubject(environment)),
    });
    intakes.set(environment, intake);
    return intake;
  }

  async function restore(): Promise<void> {
    for (const found of await lastGood.load()) {
      if (stopped) return;
      await intakeOf(found.pointer.environment)?.restore(found);
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
      const shared = { link, clock, random, log };
      watches = {
        pointers: watchStream({
          ...shared,
          stream: `KV_${NAMES.configBucket}`,
          subjects: `$KV.${NAMES.configBucket}.>`,
          deliver: 'last_of_each',
          onMessage: ({ subject, data }) => {
            intakeOf(environmentOfSubject(subject))?.offer(Buffer.from(data).toString('utf8'));
          },
          onCaughtUp: () => void (caughtUp.pointers = true),
        }),
        log: watchStream({
          ...shared,
          stream: NAMES.configLog,
          subjects: CONFIG_LOG_SUBJECTS,
          deliver: 'all',
          onMessage: ({ subject, data }) => {
            intakeOf(environmentOfSubject(subject))?.offerEntry(data);
          },
          onCaughtUp: () => void (caughtUp.log = true),
        }),
      };
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
      const errors = new Map<string, string>();
      for (const [environment, { served, error }] of intakes) {
        if (served !== undefined) {
          const { version, source, appliedAtMs } = served;
          environments.set(environment, { version, source, appliedAtMs });
        }
        if (error !== undefined) errors.set(environment, error);
      }
      const [lastError] = errors.values();
      return {
        ...{ connected: isConnected(), loaded: isLoaded(), environments },
        ...{ errors, lastError, lastGoodError },
      };
    },
    async stop() {
      stopped = true;
      await restored;
      await Promise.all([watches?.pointers.stop(), watches?.log.stop()]);
      await Promise.all([...intakes.values()].map((intake) => intake.stop()));
      await Promise.all(writes);
    },
  };
}
