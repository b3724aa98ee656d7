import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { acquireLease, type LeaseRequest, type LeaseOutcome } from './acquire-lease.ts';
import { leaseSize, type LeaseDemand } from './lease-size.ts';
import type { QuotaLedger } from './ledger.ts';
import type { QuotaCounter } from './quota-counter.ts';
import type { QuotaCounts } from './quota-counts.ts';
import { StoreGate } from './store-gate.ts';

export interface LeaseTakerOptions {
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the clock of the ledger is known. Without it the current window is unknown. */
  readonly timeKnown: () => boolean;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
  /** Live data planes including this one, at least 1. The last known number while the ledger is unreachable. */
  readonly liveNodes: () => number;
  /** Returns ids that are unique over all data planes. */
  readonly newLeaseId: () => string;
  readonly counts: QuotaCounts;
  /** Called when a round with the ledger has ended, in whatever way. */
  readonly onRefilled: (counter: QuotaCounter) => void;
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
/** The latency of the ledger is that of the quickest of the last rounds; a single slow one often has other reasons. */
const ROUNDS_KEPT = 4;
const MAX_ROUND_MS = 1000;
/** How often the ledger is read again if a lowered limit is used up. */
const RECHECK_MS = 500;
const PARALLEL_CHARGES = 32;
/** Not the hash of any quota, so nothing is stored under it. */
const NO_KEY = { hash: '0', windowMs: 1000 };

/** Refills the leases of counters from the ledger, one round at a time for each counter, and stores their debts in it. */
export class LeaseTaker {
  readonly #options: LeaseTakerOptions;
  readonly #gate: StoreGate;
  readonly #indebted = new Set<QuotaCounter>();
  /** The durations of the last rounds, ms. */
  #rounds: number[] = [];

  constructor(options: LeaseTakerOptions) {
    this.#options = options;
    this.#gate = new StoreGate({
      clock: options.clock,
      usable: () => options.ledger.reachable && options.timeKnown(),
      probe: () => this.#probe(),
      settleDebts: () => this.#settleDebts(),
      onChange: (open, reason) => this.#report(open, reason),
    });
  }

  /** Whether leases are available; otherwise the share rule decides. */
  get open(): boolean {
    return this.#gate.open;
  }

  /** Starts a refill unless one is running. */
  refill(counter: QuotaCounter): void {
    if (!counter.refilling) void this.#round(counter, false);
  }

  /** Starts a refill before it is needed, if enough is left for the other data planes. */
  refillAhead(counter: QuotaCounter): void {
    if (counter.refilling || !this.#gate.open) return;
    const left = counter.limit - counter.granted;
    if (leaseSize({ ...this.#demand(counter), left }) > 0) void this.#round(counter, false);
  }

  /** Checks at intervals whether other data planes have given back leases of a larger limit. */
  recheck(counter: QuotaCounter): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (counter.refilling || !this.#gate.open || nowMs < counter.recheckAtMs) return;
    counter.recheckAtMs = nowMs + RECHECK_MS;
    void this.#round(counter, false);
  }

  /** The counter has granted from its share. The ledger gets the debt as soon as it is back. */
  addDebt(counter: QuotaCounter): void {
    this.#indebted.add(counter);
    if (!counter.refilling && this.#gate.claimProbe()) void this.#round(counter, true);
  }

  /** The debt of the counter belongs to a window that has ended, or the counter was removed. */
  forget(counter: QuotaCounter): void {
    this.#indebted.delete(counter);
  }

  /** The expected time of a round, ms; longer after rounds that lost to other data planes. */
  #roundMs(counter: QuotaCounter): number {
    const quickest = this.#rounds.length === 0 ? 0 : Math.min(...this.#rounds);
    return Math.min(MAX_ROUND_MS, Math.max(quickest, counter.lostRaceMs));
  }

  #demand(counter: QuotaCounter): Omit<LeaseDemand, 'left'> {
    const leaseMs = Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, counter.windowMs * LEASE_PART));
    return {
      limit: counter.limit,
      nodes: this.#options.liveNodes(),
      waiting: counter.waiting.length,
      expected: Math.ceil(counter.rate * Math.max(leaseMs, LEASE_ROUNDS * this.#roundMs(counter))),
    };
  }

  /** Never rejects: if the ledger fails, requests that wait are decided by the share rule. */
  async #round(counter: QuotaCounter, chargeOnly: boolean): Promise<void> {
    const { ledger, clock, counts, newLeaseId } = this.#options;
    counter.refilling = true;
    const startedMs = clock.monotonicMs();
    counter.measureRate(startedMs);
    counter.dropAbandoned(startedMs);
    const { key, window, debt, giveBack } = counter;
    const { losses } = ledger;
    const wasLost = counter.knownLosses !== losses;
    const grantedBeforeLoss = wasLost ? counter.granted : 0;
    const demand = this.#demand(counter);
    const request: LeaseRequest = {
      ...demand,
      key,
      window,
      debt,
      giveBack,
      grantedBeforeLoss,
      chargeOnly,
    };
    // A lost answer must not cause the same amount to be given back twice.
    counter.giveBack = 0;
    const known = counter.contended || wasLost ? undefined : counter.known;
    const tally = { conflicts: 0, unanswered: 0 };
    try {
      const outcome = await acquireLease(ledger, request, known, newLeaseId, tally);
      const tookMs = clock.monotonicMs() - startedMs;
      this.#rounds.push(tookMs);
      counter.lostRaceMs = tally.conflicts > 0 ? tookMs : counter.lostRaceMs / 2;
      if (this.#rounds.length > ROUNDS_KEPT) this.#rounds.shift();
      counter.knownLosses = losses;
      counts.refills += 1;
      this.#apply(counter, request, outcome, tally.conflicts > 0);
      this.#gate.answered();
    } catch (error) {
      counter.known = undefined;
      counts.failedRefills += 1;
      this.#gate.failed(error instanceof Error ? error.message : String(error));
    } finally {
      counter.refilling = false;
      counts.conflicts += tally.conflicts;
      counts.unanswered += tally.unanswered;
    }
    this.#options.onRefilled(counter);
  }

  #apply(
    counter: QuotaCounter,
    request: LeaseRequest,
    outcome: LeaseOutcome,
    conflicted: boolean,
  ): void {
    // A lease of a window that has ended or of a changed policy is lost.
    const current = counter.window === request.window && counter.key === request.key;
    if (outcome.kind === 'unusable') {
      counter.known = undefined;
      counter.contended = false;
      if (current) counter.shareOnly = true;
      this.#options.log.debug(
        { reason: outcome.reason },
        'quota entry unusable; granting the share',
      );
      return;
    }
    this.#options.counts.leased += outcome.size;
    if (counter.key === request.key) {
      const others =
        counter.known !== undefined && outcome.firstRevision !== counter.known.revision;
      counter.contended = others || conflicted;
      counter.known = outcome.state;
    }
    if (!current) return;
    counter.granted = outcome.granted;
    counter.debt -= outcome.charged;
    if (counter.debt === 0) this.#indebted.delete(counter);
    if (counter.limit < request.limit) counter.giveBack += outcome.size;
    else counter.unused += outcome.size;
    const aheadMs = Math.max(REFILL_AHEAD_MS, REFILL_AHEAD_ROUNDS * this.#roundMs(counter));
    const soon = Math.ceil(counter.rate * aheadMs);
    counter.lowWater = Math.max(1, soon, Math.floor(outcome.size / 8));
  }

  #probe(): void {
    const [debtor] = this.#debtors();
    if (!this.#gate.claimProbe()) return;
    void (debtor === undefined ? this.#ping() : this.#round(debtor, true));
  }

  /** Checks whether the ledger answers, if there is no debt to store. Never rejects. */
  async #ping(): Promise<void> {
    try {
      await this.#options.ledger.read(NO_KEY);
      this.#gate.answered();
    } catch (error) {
      this.#gate.failed(error instanceof Error ? error.message : String(error));
    }
  }

  async #settleDebts(): Promise<void> {
    const debtors = this.#debtors();
    const chargeNext = async (): Promise<void> => {
      for (let one = debtors.pop(); one !== undefined; one = debtors.pop()) {
        // After a loss the ledger may have forgotten grants that this data plane knows of.
        const mayRestore = one.granted > 0 && one.knownLosses !== this.#options.ledger.losses;
        if ((one.debt > 0 || mayRestore) && !one.refilling) await this.#round(one, true);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_CHARGES }, chargeNext));
  }

  #debtors(): QuotaCounter[] {
    const serverMs = this.#options.serverMs();
    for (const one of this.#indebted) if (one.endMs <= serverMs) this.#indebted.delete(one);
    return [...this.#indebted].filter((one) => !one.refilling);
  }

  #report(open: boolean, reason: string): void {
    const { log, liveNodes } = this.#options;
    if (open) {
      log.info('quota leases available again');
      return;
    }
    const fields = { reason, live_data_planes: liveNodes() };
    log.warn(fields, 'quota leases unavailable; granting the share of this data plane');
  }
}
