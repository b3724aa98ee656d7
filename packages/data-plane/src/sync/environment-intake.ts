import { pause, type Clock } from '@gateway/shared/clock';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import { openPointer, openSnapshot } from '@gateway/shared/snapshot/codec';
import type { Snapshot, SnapshotPointer } from '@gateway/shared/snapshot/schema';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { backOffMs } from './back-off.ts';
import type { ConfigMetrics, RefusalReason } from './config-metrics.ts';
import type { FetchSnapshot } from './snapshot-fetch.ts';

export interface IntakeOptions {
  readonly environment: string;
  readonly keys: readonly MasterKey[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: ConfigMetrics;
  readonly fetch: FetchSnapshot;
  /** May throw: then the snapshot is refused. */
  readonly apply: (snapshot: Snapshot) => void;
  /** The snapshot is served; what it was made of can be kept. */
  readonly onServed: (pointerText: string, bytes: Uint8Array) => void;
}

export interface Served {
  readonly version: number;
  readonly source: 'nats' | 'file';
  /** ms since the Unix epoch. */
  readonly appliedAtMs: number;
}

/** Takes the configuration of one environment: proves it, fetches it, puts it into service. */
export interface EnvironmentIntake {
  readonly served: Served | undefined;
  /** Why the newest news is not served; undefined where it is. */
  readonly error: string | undefined;
  /** Puts what was found on disk into service, unless something newer is. */
  restore(pointer: SnapshotPointer, snapshot: Snapshot): void;
  /** @param text the pointer */
  offer(text: string): void;
  /** Gives up what is under way, and resolves when nothing is. */
  stop(): Promise<void>;
}

const BACK_OFF = { firstMs: 100, maxMs: 5000 };
const LOG_EVERY_FAILURES = 20;

interface News {
  readonly text: string;
  readonly arrivedMs: number;
}

export function createEnvironmentIntake(options: IntakeOptions): EnvironmentIntake {
  const { environment, clock, log, metrics } = options;
  const abort = new AbortController();
  let served: (Served & { readonly sha256: string }) | undefined;
  let error: string | undefined;
  /** Only the newest is ever of interest, so it replaces what has not been begun. */
  let newest: News | undefined;
  let running: Promise<void> | undefined;
  let wake = new AbortController();
  let refusedText: string | undefined;

  function refuse(reason: RefusalReason, text: string, cause: unknown): void {
    const why = cause instanceof Error ? cause.message : String(cause);
    refusedText = text;
    error = `${environment}: ${reason}: ${why}`;
    metrics.refused.inc({ reason });
    log.error(
      { environment, reason, why, served_version: served?.version },
      'a configuration was refused',
    );
  }

  function serve(pointer: SnapshotPointer, snapshot: Snapshot, source: Served['source']): void {
    options.apply(snapshot);
    served = {
      version: pointer.version,
      sha256: pointer.sha256,
      source,
      appliedAtMs: clock.nowMs(),
    };
    error = undefined;
    metrics.version.set({ environment }, pointer.version);
    log.info({ environment, version: pointer.version, source }, 'a configuration is served');
  }

  /** The proven pointer, where it leads to something that is not served yet. */
  function prove(text: string): SnapshotPointer | undefined {
    // Each renewed watch shows every pointer again; one that was refused stays so.
    if (text === refusedText) return undefined;
    let pointer: SnapshotPointer;
    try {
      pointer = openPointer(text, environment, options.keys);
    } catch (cause) {
      refuse('pointer_refused', text, cause);
      return undefined;
    }
    if (served === undefined || pointer.version > served.version) return pointer;
    if (pointer.version === served.version && pointer.sha256 === served.sha256) {
      served = { ...served, source: 'nats' };
      error = undefined;
    } else {
      refuse('not_newer', text, `version ${pointer.version} after ${served.version}`);
    }
    return undefined;
  }

  async function take(news: News): Promise<void> {
    const { text } = news;
    const pointer = prove(text);
    if (pointer === undefined) return;
    const bytes = await fetchWhileNewest(pointer, news);
    if (bytes === undefined) return;
    let snapshot: Snapshot;
    try {
      snapshot = await openSnapshot(pointer, bytes);
    } catch (cause) {
      refuse('snapshot_refused', text, cause);
      return;
    }
    if (abort.signal.aborted) return;
    try {
      serve(pointer, snapshot, 'nats');
    } catch (cause) {
      refuse('apply_failed', text, cause);
      return;
    }
    metrics.applySeconds.observe((clock.monotonicMs() - news.arrivedMs) / 1000);
    options.onServed(text, bytes);
  }

  /** undefined: there is newer news, or the intake was stopped. */
  async function fetchWhileNewest(
    pointer: SnapshotPointer,
    news: News,
  ): Promise<Uint8Array | undefined> {
    for (let failures = 0; ;) {
      try {
        return await options.fetch(pointer.object, abort.signal);
      } catch (cause) {
        if (abort.signal.aborted) return undefined;
        fetchFailed(pointer, failures, cause);
      }
      failures += 1;
      if (newest !== news) return undefined;
      const delayMs = backOffMs(failures, BACK_OFF, options.random());
      await pause(clock, delayMs, wake.signal);
      if (isOver(news)) return undefined;
    }
  }

  function fetchFailed(pointer: SnapshotPointer, failures: number, cause: unknown): void {
    const why = cause instanceof Error ? cause.message : String(cause);
    const { version } = pointer;
    error = `${environment}: fetch_failed: ${why}`;
    metrics.fetchFailures.inc();
    if (failures % LOG_EVERY_FAILURES > 0) return;
    log.warn({ environment, version, why }, 'a configuration cannot be fetched yet');
  }

  function isOver(news: News): boolean {
    return newest !== news || abort.signal.aborted;
  }

  async function takeAll(): Promise<void> {
    for (let news = newest; news !== undefined && !abort.signal.aborted; news = newest) {
      await take(news);
      if (newest === news) newest = undefined;
    }
    running = undefined;
  }

  return {
    get served() {
      return served;
    },
    get error() {
      return error;
    },
    restore(pointer, snapshot) {
      if (served !== undefined && served.version >= pointer.version) return;
      try {
        serve(pointer, snapshot, 'file');
      } catch (cause) {
        refuse('apply_failed', '', cause);
      }
    },
    offer(text) {
      if (abort.signal.aborted) return;
      newest = { text, arrivedMs: clock.monotonicMs() };
      wake.abort();
      wake = new AbortController();
      running ??= takeAll();
    },
    async stop() {
      abort.abort();
      wake.abort();
      await running;
    },
  };
}
