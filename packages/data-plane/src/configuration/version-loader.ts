import { backOffMs, pause, type Clock } from '@gateway/shared/clock';
import { createPace, type Pace } from '@gateway/shared/pace';
import { openSnapshot, type ReadSnapshot } from '@gateway/shared/snapshot/signed-snapshot';
import type { Delta } from '@gateway/shared/snapshot/log-schema';
import type { ConfigMetrics, RejectionReason } from './config-metrics.ts';
import type { LastGood, LastGoodWriter } from './last-good.ts';
import type { OfferedDelta, OfferedSnapshot } from './verify-offer.ts';
import type { ReadSnapshotObject } from './snapshot-objects.ts';

/** Puts the configuration of an environment into service. */
export interface ConfigurationSink {
  /** May throw or reject: then the snapshot is refused, and the old configuration stays. */
  readonly apply: (snapshot: ReadSnapshot, pace: Pace) => void | Promise<void>;
  /** May throw: then the delta is refused, and a snapshot is requested. */
  readonly applyDelta: (delta: Delta) => void;
}

export interface VersionLoaderOptions {
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly metrics: ConfigMetrics;
  readonly readObject: ReadSnapshotObject;
  readonly sink: ConfigurationSink;
  readonly lastGood: LastGoodWriter;
  readonly arrivals: ArrivalSignal;
  readonly signal: AbortSignal;
  /** @param failures failed downloads of the same version before this one */
  readonly onDownloadFailed: (version: number, failures: number, cause: unknown) => void;
}

/** Why a version cannot be served. */
export interface Rejection {
  readonly reason: RejectionReason;
  readonly cause: unknown;
}

/** The event loop also answers requests. */
const MAX_HOLD_MS = 4;

/**
 * Downloads and verifies versions of one environment, puts them into service, and writes them to the
 * last-good file.
 */
export class VersionLoader {
  readonly #options: VersionLoaderOptions;

  constructor(options: VersionLoaderOptions) {
    this.#options = options;
  }

  /** Returns why the delta cannot be served; undefined if it is served. */
  applyDelta(offered: OfferedDelta): Rejection | undefined {
    const { clock, metrics, sink, lastGood } = this.#options;
    const startedMs = clock.monotonicMs();
    try {
      sink.applyDelta(offered.delta);
    } catch (cause) {
      return { reason: 'apply_failed', cause };
    }
    const endMs = clock.monotonicMs();
    metrics.deltas.inc();
    metrics.deltaLoopSeconds.observe((endMs - startedMs) / 1000);
    metrics.applySeconds.observe((endMs - offered.arrivedMs) / 1000);
    lastGood.delta(offered.sealed, offered.version);
    return undefined;
  }

  /** Gives up without an error if the download fails while another message arrives, or at a stop. */
  async loadSnapshot(offered: OfferedSnapshot): Promise<'served' | 'given_up' | Rejection> {
    const { clock, random, metrics, readObject, sink, lastGood } = this.#options;
    const { arrivals, signal, onDownloadFailed } = this.#options;
    const { version, pointer, text } = offered;
    const bytes = await downloadSnapshot(pointer.object, {
      read: readObject,
      arrivals,
      signal,
      random,
      onFailure: (failures, cause) => onDownloadFailed(version, failures, cause),
    });
    if (bytes === undefined) return 'given_up';
    let reason: RejectionReason = 'snapshot_refused';
    try {
      const snapshot = await openSnapshot(pointer, bytes, this.pace());
      if (signal.aborted) return 'given_up';
      reason = 'apply_failed';
      await sink.apply(snapshot, this.pace());
    } catch (cause) {
      return { reason, cause };
    }
    metrics.applySeconds.observe((clock.monotonicMs() - offered.arrivedMs) / 1000);
    lastGood.snapshot(text, bytes, version);
    return 'served';
  }

  /**
   * Puts the content of the last-good file into service.
   *
   * @param onServed called after each version
   * @throws what the sink throws
   */
  async restore(
    { pointer, snapshot, deltas }: LastGood,
    onServed: (by: { readonly version: number; readonly entryId?: string }) => void,
  ): Promise<void> {
    const { sink } = this.#options;
    await sink.apply(snapshot, this.pace());
    let { version } = pointer;
    onServed({ version });
    const turn = this.pace();
    for (const { entry, id } of deltas) {
      if (entry.kind !== 'delta' || entry.from !== version) continue;
      sink.applyDelta(entry);
      ({ version } = entry);
      onServed({ version, entryId: id });
      await turn();
    }
  }

  /** Replaces the deltas of the last-good file with a snapshot. Rejects if the download fails. */
  async replaceDeltas({ pointer, text, version }: OfferedSnapshot): Promise<void> {
    const { readObject, lastGood, signal } = this.#options;
    const bytes = await readObject(pointer.object, signal);
    await openSnapshot(pointer, bytes, this.pace());
    lastGood.snapshot(text, bytes, version);
  }

  /** Yields to requests between the steps of long work. */
  pace(): Pace {
    return createPace(this.#options.clock, MAX_HOLD_MS);
  }
}

/** Ends the waits of a feed as soon as a message arrives. */
export class ArrivalSignal {
  readonly #clock: Clock;
  #count = 0;
  #wake = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Messages that arrived so far. */
  get count(): number {
    return this.#count;
  }

  notify(): void {
    this.#count += 1;
    this.endWaits();
    this.#wake = new AbortController();
  }

  endWaits(): void {
    this.#wake.abort();
  }

  /** Waits until a message arrives or the time is over. Returns whether none arrived. */
  async nothingWithin(delayMs: number): Promise<boolean> {
    const before = this.#count;
    await pause(this.#clock, delayMs, this.#wake.signal);
    return this.#count === before;
  }
}

export interface DownloadOptions {
  readonly read: ReadSnapshotObject;
  readonly arrivals: ArrivalSignal;
  readonly signal: AbortSignal;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** @param failures failed attempts before this one */
  readonly onFailure: (failures: number, cause: unknown) => void;
}

const BACK_OFF = { firstMs: 100, maxMs: 5000 };

/**
 * Downloads the object of a snapshot. A failed attempt is repeated with back-off until another message
 * arrives, which may name a newer snapshot.
 *
 * @returns undefined if the download failed and another message arrived, or if the signal aborted
 */
export async function downloadSnapshot(
  object: string,
  { read, arrivals, signal, random, onFailure }: DownloadOptions,
): Promise<Uint8Array | undefined> {
  const isOver = () => signal.aborted;
  const before = arrivals.count;
  for (let failures = 0; !isOver(); failures += 1) {
    try {
      return await read(object, signal);
    } catch (cause) {
      if (isOver()) return undefined;
      onFailure(failures, cause);
    }
    if (arrivals.count > before) return undefined;
    const delayMs = backOffMs(failures + 1, BACK_OFF, random());
    if (!(await arrivals.nothingWithin(delayMs))) return undefined;
  }
  return undefined;
}
