import type { MasterKey } from '@gateway/shared/config/master-keys';
import { repeatedEntryId } from '@gateway/shared/messaging/names';
import { createPace } from '@gateway/shared/pace';
import { openSnapshot } from '@gateway/shared/snapshot/codec';
import { claimedVersion } from '@gateway/shared/snapshot/log-codec';
import type { Snapshot } from '@gateway/shared/snapshot/schema';
import { Arrivals } from '../nats/arrivals.ts';
import type { ConfigTarget } from './config-target.ts';
import type { RefusalReason } from './config-metrics.ts';
import type { LastGood, LastGoodKeeper } from './last-good.ts';
import { fetchUnlessMoreComes } from './patient-fetch.ts';
import { proveEntry, proveSnapshot, type OfferedDelta, type OfferedSnapshot } from './offered.ts';
import type { FetchSnapshot } from './snapshot-fetch.ts';
import { ServedConfiguration, type Served, type ServedOptions } from './served-configuration.ts';
import { VersionChain } from './version-chain.ts';

export interface IntakeOptions extends ServedOptions {
  readonly keys: readonly MasterKey[];
  readonly random: () => number;
  readonly fetch: FetchSnapshot;
  readonly target: ConfigTarget;
  readonly keeper: LastGoodKeeper;
  /** Asks for a snapshot, as what has come does not lead to the newest version. */
  readonly ask: () => void;
}

export interface EnvironmentIntake {
  readonly served: Served | undefined;
  /** Why the newest news is not served; undefined where it is. */
  readonly error: string | undefined;
  /** Whether nothing that came is on its way into service, but for what cannot be had now. */
  readonly isSettled: boolean;
  restore(found: LastGood): Promise<void>;
  offer(pointerText: string): void;
  /** Of an entry of the log. */
  offerEntry(sealed: Uint8Array): void;
  stop(): Promise<void>;
}

/** How far the news of the log and that of the pointers may be apart. */
const GRACE_MS = 250;
const ASK_AGAIN_MS = 5000;
/** The event loop answers requests as well. */
const MAX_HOLD_MS = 4;

/** Takes the configuration of one environment: proves it, fetches it, puts it into service. */
export function createEnvironmentIntake(options: IntakeOptions): EnvironmentIntake {
  const { environment, keys, clock, metrics, target, keeper } = options;
  const abort = new AbortController();
  const chain = new VersionChain<OfferedDelta, OfferedSnapshot>();
  const arrivals = new Arrivals(clock);
  const pace = () => createPace(clock, MAX_HOLD_MS);
  const served = new ServedConfiguration(options);
  /** The newest version of a pointer: they only go forward. */
  let pointed = 0;
  let isTaking = false;
  let taking: Promise<void> = Promise.resolve();
  let refusedText: string | undefined;
  /** A snapshot of what is served, to be kept in the place of deltas. */
  let keepable: OfferedSnapshot | undefined;

  function refusePointer(reason: RefusalReason, text: string, cause: unknown): void {
    refusedText = text;
    served.refuse(reason, cause);
  }

  function serves(by: OfferedSnapshot | OfferedDelta): void {
    chain.serves(by.version);
    const sha256 = 'pointer' in by ? { sha256: by.pointer.sha256 } : {};
    served.serves(by.version, { ...sha256, entryId: by.entryId }, 'nats', !chain.isBehind);
  }

  function offer(text: string): void {
    // Each renewed watch shows every pointer again; one that was refused stays so.
    if (abort.signal.aborted || text === refusedText) return;
    let offered: OfferedSnapshot;
    try {
      offered = proveSnapshot(text, environment, keys, clock.monotonicMs());
    } catch (cause) {
      refusePointer('pointer_refused', text, cause);
      return;
    }
    const { version } = offered;
    const isOther = version === chain.served && !served.isMadeBy(offered);
    if (version < pointed || isOther) {
      refusePointer('not_newer', text, `version ${version} after ${chain.served || pointed}`);
      return;
    }
    pointed = version;
    if (!chain.offerSnapshot(offered)) {
      if (version === chain.served) served.confirm(!chain.isBehind);
      keepable = offered;
    }
    arrived();
  }

  function offerEntry(sealed: Uint8Array): void {
    if (abort.signal.aborted) return;
    let offered;
    try {
      offered = proveEntry(sealed, environment, keys, clock.monotonicMs());
    } catch (cause) {
      // Of a key that is gone, maybe; a snapshot has taken its place.
      if ((claimedVersion(sealed) ?? Infinity) > chain.served)
        served.refuse('delta_refused', cause);
      return;
    }
    if ('pointerText' in offered) {
      // The log begins with snapshots that newer ones have followed: a data plane that starts is shown both.
      if (offered.version > chain.served && offered.version >= pointed) offer(offered.pointerText);
      return;
    }
    if (served.isMadeBy(offered)) served.confirm(!chain.isBehind);
    if (chain.offerDelta(offered)) arrived();
  }

  function arrived(): void {
    arrivals.came();
    if (isTaking) return;
    isTaking = true;
    taking = takeAll();
  }

  async function takeAll(): Promise<void> {
    const turns = pace();
    for (let waited = false; !abort.signal.aborted;) {
      const step = chain.next(waited);
      waited = false;
      if (step.do === 'apply') {
        applyDelta(step.delta);
        await turns();
      } else if (step.do === 'load') {
        await load(step.snapshot);
      } else if (step.do === 'rest') {
        const inPlace = takeInPlaceOfDeltas();
        if (inPlace === undefined) {
          // In the same turn as `next`: what comes in between would be taken by nobody.
          isTaking = false;
          return;
        }
        await keepInPlaceOfDeltas(inPlace);
      } else {
        if (step.do === 'ask') {
          served.askedForSnapshot();
          options.ask();
        }
        waited = await arrivals.nothingWithin(step.do === 'ask' ? ASK_AGAIN_MS : GRACE_MS);
      }
    }
  }

  function applyDelta(offered: OfferedDelta): void {
    const startedMs = clock.monotonicMs();
    try {
      target.applyDelta(offered.delta);
    } catch (cause) {
      chain.refused({ delta: offered });
      served.refuse('apply_failed', cause);
      return;
    }
    serves(offered);
    const endMs = clock.monotonicMs();
    metrics.deltas.inc();
    metrics.deltaLoopSeconds.observe((endMs - startedMs) / 1000);
    metrics.applySeconds.observe((endMs - offered.arrivedMs) / 1000);
    keeper.delta(offered.sealed, offered.version);
  }

  async function load(offered: OfferedSnapshot): Promise<void> {
    const { pointer, text, version } = offered;
    const bytes = await fetchUnlessMoreComes(pointer.object, {
      ...{ fetch: options.fetch, random: options.random, arrivals, signal: abort.signal },
      onFailure: (failures, cause) => served.fetchFailed(version, failures, cause),
    });
    if (bytes === undefined) return;
    const refuseIt = (reason: RefusalReason, cause: unknown) => {
      chain.refused({ snapshot: offered });
      refusePointer(reason, text, cause);
    };
    let snapshot: Snapshot;
    try {
      snapshot = await openSnapshot(pointer, bytes, pace());
    } catch (cause) {
      refuseIt('snapshot_refused', cause);
      return;
    }
    if (abort.signal.aborted) return;
    try {
      await target.apply(snapshot, pace());
    } catch (cause) {
      refuseIt('apply_failed', cause);
      return;
    }
    serves(offered);
    metrics.applySeconds.observe((clock.monotonicMs() - offered.arrivedMs) / 1000);
    keeper.snapshot(text, bytes, version);
  }

  /** Where many deltas are kept, and nothing else is to be done. */
  function takeInPlaceOfDeltas(): OfferedSnapshot | undefined {
    const offered = keepable;
    keepable = undefined;
    return keeper.isLong() ? offered : undefined;
  }

  async function keepInPlaceOfDeltas(offered: OfferedSnapshot): Promise<void> {
    try {
      const bytes = await options.fetch(offered.pointer.object, abort.signal);
      await openSnapshot(offered.pointer, bytes, pace());
      keeper.snapshot(offered.text, bytes, offered.version);
    } catch (cause) {
      served.notKept(cause);
    }
  }

  async function restore({ pointer, snapshot, deltas }: LastGood): Promise<void> {
    const { version, sha256 } = pointer;
    if (version <= chain.served) return;
    const restored = (to: number, making: { sha256?: string; entryId: string | undefined }) => {
      chain.serves(to);
      served.serves(to, making, 'file', true);
    };
    try {
      await target.apply(snapshot, pace());
      pointed = version;
      restored(version, { sha256, entryId: repeatedEntryId(pointer.object) });
      const turns = pace();
      for (const { entry, id } of deltas) {
        if (entry.kind !== 'delta' || entry.from !== chain.served) continue;
        target.applyDelta(entry);
        restored(entry.version, { entryId: id });
        await turns();
      }
    } catch (cause) {
      served.refuse('apply_failed', cause);
    }
  }

  return {
    get served() {
      return served.current;
    },
    get error() {
      return served.error;
    },
    get isSettled() {
      return !isTaking || served.isHeldUp;
    },
    restore,
    offer,
    offerEntry,
    async stop() {
      abort.abort();
      arrivals.end();
      await taking;
    },
  };
}
