import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import {
  acquireLease,
  type LeaseRequest,
  type LeaseOutcome,
  type RoundTally,
  type SettledLease,
} from './acquire-lease.ts';
import { partOf } from './fleet.ts';
import { hasGrantedItsPart, keptBy, type GivenUpBySlot } from './held-back.ts';
import type { LeaseDemand } from './lease-size.ts';
import type { QuotaLedger } from './ledger.ts';
import type { QuotaCounter } from './quota-counter.ts';
import { Recaller, type RecallerOptions } from './recaller.ts';
import { RoundTimes } from './round-times.ts';

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
  /** Called when the ledger knows of all that the counter has granted. */
  readonly onSettled: (counter: QuotaCounter) => void;
}

/** A lease should last for this part of the window at the recent rate, within bounds, */
const LEASE_PART = 1 / 60;
const MIN_LEASE_MS = 250;
const MAX_LEASE_MS = 1000;
/** and for this many rounds with the ledger, if the ledger is slow. */
const LEASE_ROUNDS = 3;
/** A refill starts when the lease lasts no longer than this at the recent rate, or than this many rounds. */
const REFILL_AHEAD_MS = 50;
const REFILL_AHEAD_ROUNDS = 1.5;
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
const NOTHING_GIVEN_UP: GivenUpBySlot = new Map();

/**
 * Rounds of a counter with the ledger. A round stores its debt and takes a lease. If too little is left, it asks the
 * other data planes for what they do not need, and takes a lease of that.
 */
export class LeaseRounds {
  readonly #options: LeaseRoundsOptions;
  readonly #times = new RoundTimes();
  readonly #recaller: Recaller;

  constructor(options: LeaseRoundsOptions) {
    this.#options = options;
    this.#recaller = new Recaller(options);
  }

  /** What the next lease of the counter should suffice for. */
  demand(counter: QuotaCounter): Omit<LeaseDemand, 'left' | 'reserve'> {
    const leaseMs = Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, counter.windowMs * LEASE_PART));
    return {
      limit: counter.limit,
      nodes: this.#options.fleet.view.others.length + 1,
      // A refused counter takes a lease of one for the next request.
      waiting: Math.max(counter.waiting.count, counter.usedUp ? 1 : 0),
      expected: Math.ceil(
        counter.rate * Math.max(leaseMs, LEASE_ROUNDS * this.#times.expectedMs(counter)),
      ),
    };
  }

  /**
   * Runs one round for the counter, which must not be in one.
   *
   * @param chargeOnly leases nothing: only stores the debt
   * @throws if the ledger failed
   */
  async run(counter: QuotaCounter, chargeOnly: boolean): Promise<void> {
    const { clock, counts } = this.#options;
    counter.refilling = true;
    const startedMs = clock.monotonicMs();
    const { window } = counter;
    counter.measureRate(startedMs);
    counter.waiting.dropAbandoned(startedMs);
    const tally = { conflicts: 0, unanswered: 0, certainlyLeft: Infinity };
    try {
      await this.#lease(counter, chargeOnly, NOTHING_GIVEN_UP, tally);
      const tookMs = clock.monotonicMs() - startedMs;
      this.#times.add(tookMs);
      counter.lostRaceMs = tally.conflicts > 0 ? tookMs : counter.lostRaceMs / 2;
      counts.refills += 1;
      this.#options.onAnswered();
      if (!chargeOnly) await this.#leaseFromOthers(counter, tally);
    } catch (error) {
      counter.known = undefined;
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
    chargeOnly: boolean,
    givenUp: GivenUpBySlot,
    tally: RoundTally,
  ): Promise<void> {
    const { ledger, newLeaseId, fleet } = this.#options;
    const { key, window, startMs } = counter;
    const known = chargeOnly ? fleet.view : fleet.viewFor(startMs);
    const view = known instanceof Promise ? await known : known;
    if (counter.window !== window) return;
    const { losses } = ledger;
    const wasLost = counter.knownLosses !== losses;
    const { debt, giveBack } = counter;
    const reserve = chargeOnly ? counter.reserve.left : counter.reserve.beginRound();
    const request: LeaseRequest = {
      ...this.demand(counter),
      key,
      window,
      startMs,
      windowMs: key.windowMs,
      fleet: view,
      reserve,
      givenUp,
      debt,
      giveBack,
      grantedBeforeLoss: wasLost ? counter.granted : 0,
      chargeOnly,
    };
    // A lost answer must not cause the same amount to be given back twice.
    counter.giveBack = 0;
    const state = counter.contended || wasLost ? undefined : counter.known;
    const outcome = await acquireLease(ledger, request, state, newLeaseId, tally);
    counter.knownLosses = losses;
    this.#apply(counter, request, outcome, tally.conflicts > 0);
  }

  /**
   * Others that lease just now can give up nothing yet, so they are asked again. As long as some have said nothing, and
   * requests wait for the first lease of the window, the quota is not known to be used up: others may be slow, or about to
   * make room for this data plane.
   */
  async #leaseFromOthers(counter: QuotaCounter, tally: RoundTally): Promise<void> {
    const { clock, fleet, serverMs } = this.#options;
    const { window } = counter;
    // A lease of the next window needs its own round: `tally` is of this one. Requests that wait get it sooner, too.
    const isOver = () => counter.window !== window || serverMs() >= counter.endMs;
    const isDone = () => isOver() || !counter.exhausted || counter.held === 0;
    const untilMs = clock.monotonicMs() + ASK_FOR_MS;
    let isPatient = false;
    for (let asked = 1; !isDone(); asked += 1) {
      if (asked > 1) {
        await pause(clock, ASK_AGAIN_MS * Math.min(asked - 1, MAX_PAUSES));
        if (isDone()) return;
      }
      const { waiting, expected } = this.demand(counter);
      const { givenUp, silent } = await this.#recaller.ask(counter, waiting + expected);
      // Nothing was given up of the next window.
      if (isOver()) return;
      if (givenUp.size > 0 || isPatient) await this.#lease(counter, false, givenUp, tally);
      if (isOver()) return;
      // What somebody has stored since its answer is not given up.
      const isOvertaken = counter.held > keptBy(givenUp);
      counter.othersSilent = silent || isOvertaken;
      counter.waiting.dropAbandoned(clock.monotonicMs());
      const empty = counter.unused === 0 && !hasGrantedItsPart(counter, fleet.view);
      isPatient = counter.othersSilent && empty && counter.waiting.count > 0;
      // They may say something soon.
      if (isPatient) counter.recheckAfter(RECHECK_MS, clock.monotonicMs());
      if (isPatient && clock.monotonicMs() < untilMs) continue;
      // Whoever is silent will not answer the next time either.
      if (givenUp.size < fleet.view.others.length || asked >= MAX_ASKS) return;
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
      counter.known = undefined;
      counter.contended = false;
      if (current) counter.grantShareUntil(counter.endMs);
      this.#options.log.debug(
        { reason: outcome.reason },
        'quota entry unusable; granting the share',
      );
      return;
    }
    if (outcome.kind === 'full') {
      counter.known = undefined;
      counter.contended = false;
      const untilMs = this.#options.serverMs() + FULL_RECHECK_MS;
      if (current) counter.grantShareUntil(untilMs, outcome.bound);
      return;
    }
    counter.bound = undefined;
    this.#options.counts.leased += outcome.size;
    const others = counter.known !== undefined && outcome.firstRevision !== counter.known.revision;
    counter.contended = others || conflicted;
    counter.known = outcome.state;
    if (!current) return;
    counter.granted = outcome.granted;
    counter.held = outcome.held;
    if (outcome.written) this.#stored(counter, request, outcome);
    if (counter.limit < request.limit) counter.giveBack += outcome.size;
    else counter.unused += outcome.size;
    const aheadMs = Math.max(
      REFILL_AHEAD_MS,
      REFILL_AHEAD_ROUNDS * this.#times.expectedMs(counter),
    );
    const soon = Math.ceil(counter.rate * aheadMs);
    counter.lowWater = Math.max(1, soon, Math.floor(outcome.size / 8));
    if (request.chargeOnly) return;
    counter.exhausted = counter.unused < request.waiting;
    if (!counter.exhausted) return;
    const recheckMs = Math.min(MAX_RECHECK_MS, Math.max(RECHECK_MS, 2 * counter.recheckMs));
    counter.recheckAfter(recheckMs, this.#options.clock.monotonicMs());
  }

  /** The ledger knows the debt and the reserve of the request. */
  #stored(counter: QuotaCounter, request: LeaseRequest, outcome: SettledLease): void {
    counter.debt -= request.debt;
    if (counter.debt === 0) this.#options.onSettled(counter);
    const slot = request.fleet.own?.slot ?? NaN;
    const stored = outcome.state.entry?.reserves[slot];
    if (stored !== undefined) counter.reserve.writes = stored.writes;
    if (request.chargeOnly) return;
    const lowered = counter.limit < request.limit ? counter.limit / request.limit : 1;
    counter.reserve.stored(Math.floor(outcome.reserve * lowered));
    // The part may have become smaller meanwhile.
    const { own } = this.#options.fleet.view;
    counter.reserve.limitTo(partOf(counter.limit, own?.parts ?? 0));
  }
}
