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
import { createConfigMetrics } from './config-metrics.ts';
import { EnvironmentFeed } from './environment-feed.ts';
import type { LastGoodStore } from './last-good.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import { createSnapshotReader } from './snapshot-objects.ts';
import { watchStream, type StreamWatch } from '../nats/stream-watch.ts';
import type { ServedVersion } from './version-chain.ts';
import type { ConfigurationSink } from './version-loader.ts';

export interface ConfigurationStatus {
  /** Whether NATS delivers changes now. */
  readonly connected: boolean;
  /**
   * Whether requests can be answered: the last-good files were found, or everything that NATS held at the
   * start is served. Before that, an existing route could be answered as unknown. It stays true once it is.
   * What cannot be served within 3 s does not delay it any longer.
   */
  readonly loaded: boolean;
  /** The served versions, by environment. */
  readonly environments: ReadonlyMap<string, ServedVersion>;
  /** Why the newest configuration of some environment is not served; holds none of its content. */
  readonly lastError: string | undefined;
  /** The same by environment. */
  readonly errors: ReadonlyMap<string, string>;
  /** Why the newest configuration of some environment is not on disk, for a restart without NATS. */
  readonly lastGoodError: string | undefined;
}

export interface ConfigurationFeed {
  /** As `status.loaded`, cheap enough for every request. */
  isLoaded(): boolean;
  /** Whether some configuration of each environment that NATS holds is served. */
  isComplete(): boolean;
  /** As of now. */
  readonly status: ConfigurationStatus;
  /** Resolves once the last-good files, if any, are served; never rejects. */
  readonly restored: Promise<void>;
  stop(): Promise<void>;
}

export interface ConfigurationFeedOptions {
  readonly link: NatsLink;
  readonly keys: readonly MasterKey[];
  readonly lastGood: LastGoodStore;
  readonly sink: ConfigurationSink;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
}

/** Far above any use. A client that may write to NATS must not be able to fill the memory of a data plane. */
const MAX_ENVIRONMENTS = 1000;

/**
 * Keeps the configuration of all environments up to date: first from the last-good files, then from NATS
 * until it is stopped. It never throws.
 */
export function startConfigurationFeed(options: ConfigurationFeedOptions): ConfigurationFeed {
  const { link, clock, log, lastGood, keys, random, sink } = options;
  const feeds = new Map<string, EnvironmentFeed>();
  const writes = new Set<Promise<void>>();
  let stopped = false;
  let watches: { readonly pointers: StreamWatch; readonly log: StreamWatch } | undefined;
  const isConnected = () => watches?.pointers.connected === true && watches.log.connected;
  const metrics = createConfigMetrics(options.registry, isConnected);
  const readObject = createSnapshotReader(link, clock);
  let lastGoodError: string | undefined;
  const caughtUp = { pointers: false, log: false };
  let loaded = false;

  function isLoaded(): boolean {
    if (loaded) return true;
    if (!caughtUp.pointers || !caughtUp.log) return false;
    const all = [...feeds.values()];
    loaded = all.every((feed) => feed.isSettled) && all.some(({ served }) => served !== undefined);
    return loaded;
  }

  /** Serving does not depend on the file: with a full disk, only the next restart needs NATS. */
  function watchWrite(write: Promise<void>): void {
    const watched = write.then(
      () => void (lastGoodError = undefined),
      (error: unknown) => {
        metrics.lastGoodFailures.inc();
        if (lastGoodError !== undefined) return;
        lastGoodError = `last-good configuration not written: ${String(error)}`;
        log.error({ reason: String(error) }, 'last-good configuration not written');
      },
    );
    writes.add(watched);
    void watched.then(() => writes.delete(watched));
  }

  function feedOf(environment: string): EnvironmentFeed | undefined {
    const known = feeds.get(environment);
    if (known !== undefined) return known;
    if (feeds.size >= MAX_ENVIRONMENTS) {
      metrics.rejected.inc({ reason: 'too_many_environments' });
      return undefined;
    }
    const file = lastGood.of(environment);
    const feed = new EnvironmentFeed({
      environment,
      keys,
      clock,
      random,
      log,
      metrics,
      readObject,
      sink,
      lastGood: {
        snapshot: (text, bytes, version) => watchWrite(file.snapshot(text, bytes, version)),
        delta: (sealed, version) => watchWrite(file.delta(sealed, version)),
        isLong: () => file.isLong(),
      },
      requestSnapshot: () => link.connection?.publish(configWantedSubject(environment)),
    });
    feeds.set(environment, feed);
    return feed;
  }

  async function restore(): Promise<void> {
    for (const found of await lastGood.load()) {
      if (stopped) return;
      await feedOf(found.pointer.environment)?.restore(found);
    }
    loaded = [...feeds.values()].some(({ served }) => served !== undefined);
  }

  function watch(): void {
    const shared = { link, clock, random, log };
    watches = {
      pointers: watchStream({
        ...shared,
        stream: `KV_${NAMES.configBucket}`,
        subjects: `$KV.${NAMES.configBucket}.>`,
        deliver: 'last_of_each',
        onMessage({ subject, data }) {
          const text = Buffer.from(data).toString('utf8');
          feedOf(environmentOfSubject(subject))?.offerPointer(text);
        },
        onCaughtUp: () => void (caughtUp.pointers = true),
      }),
      log: watchStream({
        ...shared,
        stream: NAMES.configLog,
        subjects: CONFIG_LOG_SUBJECTS,
        deliver: 'all',
        onMessage: ({ subject, data }) => feedOf(environmentOfSubject(subject))?.offerEntry(data),
        onCaughtUp: () => void (caughtUp.log = true),
      }),
    };
  }

  const restored = restore()
    .catch((error: unknown) => {
      log.error({ reason: String(error) }, 'last-good configurations not readable');
    })
    .then(() => {
      // After the files, so that no file replaces something newer.
      if (!stopped) watch();
    });

  return {
    restored,
    isLoaded,
    isComplete() {
      for (const { served } of feeds.values()) if (served === undefined) return false;
      return true;
    },
    get status() {
      const environments = new Map<string, ServedVersion>();
      const errors = new Map<string, string>();
      for (const [environment, { served, error }] of feeds) {
        if (served !== undefined) environments.set(environment, served);
        if (error !== undefined) errors.set(environment, error);
      }
      const [lastError] = errors.values();
      return {
        connected: isConnected(),
        loaded: isLoaded(),
        environments,
        errors,
        lastError,
        lastGoodError,
      };
    },
    async stop() {
      stopped = true;
      await restored;
      await Promise.all([watches?.pointers.stop(), watches?.log.stop()]);
      await Promise.all([...feeds.values()].map((feed) => feed.stop()));
      await Promise.all(writes);
    },
  };
}
