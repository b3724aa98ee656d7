import type { MasterKey } from '@gateway/shared/config/master-keys';
import { entryIdOfSnapshot } from '@gateway/shared/messaging/names';
import { claimedVersion } from '@gateway/shared/snapshot/signed-log-entry';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { RejectionReason } from './config-metrics.ts';
import { EnvironmentErrors } from './environment-errors.ts';
import type { LastGood } from './last-good.ts';
import {
  verifyEntry,
  verifyPointer,
  type OfferedDelta,
  type OfferedSnapshot,
} from './verify-offer.ts';
import { VersionChain, type ServedVersion } from './version-chain.ts';
import { ArrivalSignal, VersionLoader, type VersionLoaderOptions } from './version-loader.ts';

export interface EnvironmentFeedOptions extends Omit<
  VersionLoaderOptions,
  'arrivals' | 'signal' | 'onDownloadFailed'
> {
  readonly environment: string;
  readonly keys: readonly MasterKey[];
  readonly log: Logger;
  /** Asks the control plane for a snapshot of the newest version. */
  readonly requestSnapshot: () => void;
}

/** The log and the pointers arrive on two subscriptions, so one may be this much later. */
const GRACE_MS = 250;
const REQUEST_AGAIN_MS = 5000;

/**
 * The configuration of one environment: verifies what NATS delivers and brings the newest version into service.
 * What cannot be served leaves the old version in service.
 */
export class EnvironmentFeed {
  readonly #options: EnvironmentFeedOptions;
  readonly #chain = new VersionChain<OfferedDelta, OfferedSnapshot>();
  readonly #errors: EnvironmentErrors;
  readonly #arrivals: ArrivalSignal;
  readonly #loader: VersionLoader;
  readonly #abort = new AbortController();
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  #refusedPointer: string | undefined;
  /** A snapshot of the served version or an older one: it could replace deltas of the last-good file. */
  #replacement: OfferedSnapshot | undefined;

  constructor(options: EnvironmentFeedOptions) {
    this.#options = options;
    const errors = new EnvironmentErrors({ ...options, version: () => this.#chain.version });
    this.#errors = errors;
    this.#arrivals = new ArrivalSignal(options.clock);
    this.#loader = new VersionLoader({
      ...options,
      arrivals: this.#arrivals,
      signal: this.#abort.signal,
      onDownloadFailed: (version, failures, cause) =>
        errors.downloadFailed(version, failures, cause),
    });
  }

  get served(): ServedVersion | undefined {
    return this.#chain.served;
  }

  /** Why the newest configuration is not served; undefined if it is. */
  get error(): string | undefined {
    return this.#errors.current;
  }

  /** Whether everything that arrived is served or refused, or has waited for 3 s for what is not available. */
  get isSettled(): boolean {
    return !this.#isRunning || this.#errors.isBlocked;
  }

  /** Serves what the last-good file holds. Never rejects. */
  async restore(found: LastGood): Promise<void> {
    const { version, sha256, object } = found.pointer;
    if (version <= this.#chain.version) return;
    const ofSnapshot = { sha256, entryId: entryIdOfSnapshot(object) };
    try {
      await this.#loader.restore(found, (by) => {
        this.#chain.restore(by.entryId === undefined ? { ...by, ...ofSnapshot } : by);
        this.#served();
      });
    } catch (cause) {
      this.#errors.rejected('apply_failed', cause);
    }
  }

  /** A pointer arrived. */
  offerPointer(text: string): void {
    // Each new subscription delivers every pointer again; a refused one stays refused.
    if (this.#abort.signal.aborted || text === this.#refusedPointer) return;
    const { environment, keys, clock } = this.#options;
    let offered: OfferedSnapshot;
    try {
      offered = verifyPointer(text, environment, keys, clock.monotonicMs());
    } catch (cause) {
      this.#refusePointer('pointer_refused', text, cause);
      return;
    }
    const why = this.#chain.offerSnapshot(offered);
    if (why !== undefined) {
      this.#refusePointer('not_newer', text, why);
      return;
    }
    if (offered.version <= this.#chain.version) this.#replacement = offered;
    if (offered.version === this.#chain.version) this.#clearIfNewest();
    this.#arrived();
  }

  /** An entry of the log arrived. */
  offerEntry(sealed: Uint8Array): void {
    if (this.#abort.signal.aborted) return;
    const { environment, keys, clock } = this.#options;
    let offered;
    try {
      offered = verifyEntry(sealed, environment, keys, clock.monotonicMs());
    } catch (cause) {
      // An old entry may be signed with a key that is gone; a snapshot has replaced it.
      const isNewer = (claimedVersion(sealed) ?? Infinity) > this.#chain.version;
      if (isNewer) this.#errors.rejected('delta_refused', cause);
      return;
    }
    if ('announced' in offered) {
      this.#chain.announce(offered.announced);
      if (this.#chain.isBehind) this.#arrived();
      return;
    }
    const isNewer = this.#chain.offerDelta(offered);
    if (offered.version === this.#chain.version) this.#clearIfNewest();
    if (isNewer) this.#arrived();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    this.#arrivals.endWaits();
    await this.#running;
  }

  #arrived(): void {
    this.#arrivals.notify();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const turn = this.#loader.pace();
    for (let waited = false; !this.#abort.signal.aborted;) {
      const step = this.#chain.next(waited);
      waited = false;
      if (step.do === 'apply') {
        this.#applyDelta(step.delta);
        await turn();
      } else if (step.do === 'load') {
        await this.#loadSnapshot(step.snapshot);
      } else if (step.do === 'rest') {
        const replacement = this.#takeReplacement();
        if (replacement === undefined) {
          // In the same turn as `next`: a message that arrives later starts the next run.
          this.#isRunning = false;
          return;
        }
        await this.#loader
          .replaceDeltas(replacement)
          .catch((cause: unknown) => this.#errors.deltasNotReplaced(cause));
      } else {
        if (step.do === 'ask') {
          this.#errors.snapshotRequested();
          this.#options.requestSnapshot();
        }
        const delayMs = step.do === 'ask' ? REQUEST_AGAIN_MS : GRACE_MS;
        waited = await this.#arrivals.nothingWithin(delayMs);
      }
    }
  }

  #applyDelta(offered: OfferedDelta): void {
    const refusal = this.#loader.applyDelta(offered);
    if (refusal === undefined) {
      this.#chain.serve(offered);
      this.#served();
      return;
    }
    this.#chain.refuse(offered);
    this.#errors.rejected(refusal.reason, refusal.cause);
  }

  async #loadSnapshot(offered: OfferedSnapshot): Promise<void> {
    const result = await this.#loader.loadSnapshot(offered);
    if (result === 'given_up') return;
    if (result === 'served') {
      this.#chain.serve(offered);
      this.#served();
      return;
    }
    this.#chain.refuse(offered);
    this.#refusePointer(result.reason, offered.text, result.cause);
  }

  #takeReplacement(): OfferedSnapshot | undefined {
    const offered = this.#replacement;
    this.#replacement = undefined;
    return this.#options.lastGood.isLong() ? offered : undefined;
  }

  /** Another version is served. */
  #served(): void {
    const { environment, log, metrics } = this.#options;
    const { version, source } = this.#chain.served ?? { version: 0, source: 'nats' };
    this.#clearIfNewest();
    this.#errors.unblock();
    metrics.version.set({ environment }, version);
    log.info({ environment, version, source }, 'configuration applied');
  }

  #clearIfNewest(): void {
    if (!this.#chain.isBehind) this.#errors.clear();
  }

  #refusePointer(reason: RejectionReason, text: string, cause: unknown): void {
    this.#refusedPointer = text;
    this.#errors.rejected(reason, cause);
  }
}
