import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { shareOfLimit } from '../fleet/fleet.ts';
import { hasGrantedItsShare } from '../fleet/fleet-place.ts';
import {
  acquireLease,
  type LeaseAnswer,
  type LeaseOutcome,
  type LeaseRequest,
  type RoundTally,
} from '../ledger/acquire-lease.ts';
import { stillReserved } from '../ledger/entry-reserves.ts';
import type { QuotaLedger } from '../ledger/ledger.ts';
import { Recaller, type RecallerOptions, type ReleasedBySlot } from '../recall/recall.ts';
import { DemandForecast } from './demand-forecast.ts';
import type { QuotaCounter } from './quota-counter.ts';

export interface LeaseRoundsOptions extends RecallerOptions {
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
  readonly log: Logger;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
  /** Returns ids that are unique over all data planes. */
  readonly newLeaseId: () => string;
  /** Called when the ledger has answered. */
  readonly onAnswered: () => void;
  /** Called when all debt of the counter is settled. */
  readonly onSettled: (counter: QuotaCounter) => void;
}

/** How often the ledger is read again, and others are asked, if nothing is left: first, and at last. */
const RECHECK_MS = 500;
const MAX_RECHECK_MS = 4000;
/** When a ledger that stores no more entries is asked again. */
const FULL_RECHECK_MS = 5000;
/** How often others are asked for requests that wait, and after what time again. */
const MAX_ASKS = 3;
const ASK_AGAIN_MS = 10;
/** The longest pause is this many times as long. */
const MAX_PAUSES = 10;
/** How long they are asked if some say nothing and nothing was leased. */
const ASK_FOR_MS = 1000;
const NOTHING_RELEASED: ReleasedBySlot = new Map();

/**
 * Rounds of a counter with the ledger. A round settles its debt and takes a lease. If too little is left, it recalls from
 * the other data planes what they do not need, and takes a lease of that.
 */
export class LeaseRounds {
  readonly #options: LeaseRoundsOptions;
  readonly demand: DemandForecast;
  readonly #recaller: Recaller;

  constructor(options: LeaseRoundsOptions) {
    this.#options = options;
    this.demand = new DemandForecast(options.fleet);
    this.#recaller = new Recaller(options);
  }

  /**
   * Runs one round for the counter, which must not be in one.
   *
   * @param settleOnly leases nothing: only settles the debt
   * @throws if the ledger failed
   */
  async run(counter: QuotaCounter, settleOnly: boolean): Promise<void> {
    const { clock, counts } = this.#options;
    counter.refilling = true;
    const startedMs = clock.monotonicMs();
    const { window } = counter;
    counter.measureRate(startedMs);
    counter.waiting.dropAbandoned(startedMs);
    const tally = { conflicts: 0, unanswered: 0, certainlyLeft: Infinity };
    try {
      await this.#lease(counter, settleOnly, NOTHING_RELEASED, tally);
      const tookMs = clock.monotonicMs() - startedMs;
      this.demand.roundTook(tookMs);
      counter.lostRaceMs = tally.conflicts > 0 ? tookMs : counter.lostRaceMs / 2;
      counts.refills += 1;
      this.#options.onAnswered();
      if (!settleOnly) await this.#leaseFromOthers(counter, tally);
    } catch (error) {
      counter.ledgerState = undefined;
      counts.failedRefills += 1;
      throw error;
    } finally {
      counter.reserve.endRound(counter.window === window ? tally.certainlyLeft : Infinity);
      counter.refilling = false;
      counts.conflicts += tally.conflicts;
      counts.unanswered += tally.unanswered;
    }
  }

  async #lease(
    counter: QuotaCounter,
    settleOnly: boolean,
    released: ReleasedBySlot,
    tally: RoundTally,
  ): Promise<void> {
    const { ledger, newLeaseId, fleet } = this.#options;
    const { key, window, startMs } = counter;
    const known = settleOnly ? fleet.view : fleet.viewFor(startMs);
    const view = known instanceof Promise ? await known : known;
    if (counter.window !== window) return;
    const { losses } = ledger;
    const wasLost = counter.ledgerLosses !== losses;
    const { debt, toReturn } = counter;
    const reserve = settleOnly ? counter.reserve.left : counter.reserve.beginRound();
    const request: LeaseRequest = {
      ...this.demand.of(counter),
      key,
      window,
      startMs,
      windowMs: key.windowMs,
      fleet: view,
      reserve,
      released,
      debt,
      toReturn,
      grantedBeforeLoss: wasLost ? counter.grantedToAll : 0,
      settleOnly,
    };
    // A lost answer must not cause the same amount to be returned twice.
    counter.toReturn = 0;
    const state = counter.contended || wasLost ? undefined : counter.ledgerState;
    const outcome = await acquireLease(ledger, request, state, newLeaseId, tally);
    counter.ledgerLosses = losses;
    this.#apply(counter, request, outcome, tally.conflicts > 0);
  }

  /**
   * Others that lease just now can release nothing yet, so they are asked again. As long as some have said nothing, and
   * requests wait for the first lease of the window, the quota is not known to be used up: others may be slow, or about to
   * make room for this data plane.
   */
  async #leaseFromOthers(counter: QuotaCounter, tally: RoundTally): Promise<void> {
    const { clock, fleet, serverMs } = this.#options;
    const { window } = counter;
    // A lease of the next window needs its own round: `tally` is of this one. Requests that wait get it sooner, too.
    const isOver = () => counter.window !== window || serverMs() >= counter.endMs;
    const isDone = () => isOver() || !counter.exhausted || counter.reservedForOthers === 0;
    const untilMs = clock.monotonicMs() + ASK_FOR_MS;
    let isPatient = false;
    for (let asked = 1; !isDone(); asked += 1) {
      if (asked > 1) {
        await pause(clock, ASK_AGAIN_MS * Math.min(asked - 1, MAX_PAUSES));
        if (isDone()) return;
      }
      const { waiting, expected } = this.demand.of(counter);
      const { released, toReturn, silent } = await this.#recaller.ask(counter, waiting + expected);
      // Nothing was released of the next window.
      if (isOver()) return;
      counter.toReturn += toReturn;
      if (released.size > 0 || isPatient) await this.#lease(counter, false, released, tally);
      if (isOver()) return;
      // A reserve that was stored again since the answer is not released.
      const isOvertaken = counter.reservedForOthers > stillReserved(released);
      counter.othersSilent = silent || isOvertaken;
      counter.waiting.dropAbandoned(clock.monotonicMs());
      const empty = counter.leased === 0 && !hasGrantedItsShare(counter, fleet.view);
      isPatient = counter.othersSilent && empty && counter.waiting.count > 0;
      // They may say something soon.
      if (isPatient) counter.recheckAfter(RECHECK_MS, clock.monotonicMs());
      if (isPatient && clock.monotonicMs() < untilMs) continue;
      // Whoever is silent will not answer the next time either.
      if (released.size < fleet.view.others.length || asked >= MAX_ASKS) return;
    }
  }

  #apply(
    counter: QuotaCounter,
    request: LeaseRequest,
    outcome: LeaseOutcome,
    conflicted: boolean,
  ): void {
    // A lease of a window that has ended is lost.
    const current = counter.window === request.window;
    if (outcome.kind === 'unusable') {
      counter.ledgerState = undefined;
      counter.contended = false;
      if (current) counter.grantReserveUntil(counter.endMs);
      this.#options.log.debug(
        { reason: outcome.reason },
        'quota entry unusable; granting the share',
      );
      return;
    }
    if (outcome.kind === 'full') {
      counter.ledgerState = undefined;
      counter.contended = false;
      const untilMs = this.#options.serverMs() + FULL_RECHECK_MS;
      if (current) counter.grantReserveUntil(untilMs, outcome.bound);
      return;
    }
    counter.bound = undefined;
    this.#options.counts.leased += outcome.size;
    const others =
      counter.ledgerState !== undefined && outcome.firstRevision !== counter.ledgerState.revision;
    counter.contended = others || conflicted;
    counter.ledgerState = outcome.state;
    if (!current) return;
    counter.grantedToAll = outcome.grantedToAll;
    counter.reservedForOthers = outcome.reservedForOthers;
    if (outcome.written) this.#stored(counter, request, outcome);
    if (counter.limit < request.limit) counter.toReturn += outcome.size;
    else counter.leased += outcome.size;
    counter.lowWater = this.demand.lowWaterOf(counter, outcome.size);
    if (request.settleOnly) return;
    counter.exhausted = counter.leased < request.waiting;
    if (!counter.exhausted) return;
    const recheckMs = Math.min(MAX_RECHECK_MS, Math.max(RECHECK_MS, 2 * counter.recheckMs));
    counter.recheckAfter(recheckMs, this.#options.clock.monotonicMs());
  }

  /** The debt of the request is settled, and its reserve stored. */
  #stored(counter: QuotaCounter, request: LeaseRequest, outcome: LeaseAnswer): void {
    counter.debt -= request.debt;
    if (counter.debt === 0) this.#options.onSettled(counter);
    const slot = request.fleet.own?.slot ?? NaN;
    const stored = outcome.state.entry?.reserves[slot];
    if (stored !== undefined) counter.reserve.writes = stored.writes;
    if (request.settleOnly) return;
    const lowered = counter.limit < request.limit ? counter.limit / request.limit : 1;
    counter.reserve.stored(Math.floor(outcome.reserve * lowered));
    // The share may have become smaller meanwhile.
    const { own } = this.#options.fleet.view;
    counter.reserve.limitTo(shareOfLimit(counter.limit, own?.parts ?? 0));
  }
}
