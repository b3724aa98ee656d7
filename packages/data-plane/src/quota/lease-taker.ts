import type { Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { acquireLease, type LeaseAsk, type LeaseOutcome } from './acquire-lease.ts';
import { leaseSize, type LeaseDemand } from './lease-size.ts';
import type { QuotaLedger } from './ledger.ts';
import type { QuotaCounter } from './quota-counter.ts';
import type { QuotaCounts } from './quota-counts.ts';
import { StoreGate } from './store-gate.ts';

export interface LeaseTakerOptions {
  readonly ledger: QuotaLedger;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the ledger's clock is known: without it no window of it can be named. */
  readonly timeKnown: () => boolean;
  /** Now by the ledger's clock. */
  readonly serverMs: () => number;
  /** Live data planes, this one included: at least 1. While the ledger is away the last known number. */
  readonly liveNodes: () => number;
  /** Gives ids that no other data plane gives. */
  readonly newLeaseId: () => string;
  readonly counts: QuotaCounts;
  /** Called when a round with the ledger is over, whatever came of it. */
  readonly onRefilled: (counter: QuotaCounter) => void;
}

/** A lease is to last for this part of the window at the recent rate, within bounds. */
const LEASE_PART = 1 / 60;
const MIN_LEASE_MS = 250;
const MAX_LEASE_MS = 1000;
/** And for so many rounds with a ledger that is far away. */
const LEASE_ROUNDS = 3;
/** A refill begins when the lease lasts no longer than this at the recent rate, or for so many rounds. */
const REFILL_AHEAD_MS = 50;
const REFILL_AHEAD_ROUNDS = 1.5;
/** A ledger is as far away as the quickest of so many rounds tells: a slow one has often other reasons. */
const ROUNDS_KEPT = 4;
const MAX_ROUND_MS = 1000;
/** Where a limit was lowered, and all of it seems to be granted. */
const LOOK_AGAIN_MS = 500;
const PARALLEL_CHARGES = 32;
/** No hash of a quota: nothing is ever stored under it. */
const NO_KEY = { hash: '0', windowMs: 1000 };

/** Refills the leases of counters from the ledger, one round at a time for each, and keeps it told of debts. */
export class LeaseTaker {
  readonly #options: LeaseTakerOptions;
  readonly #gate: StoreGate;
  readonly #indebted = new Set<QuotaCounter>();
  /** How long the last rounds took, ms. */
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

  /** Begins a refill unless one is under way. */
  refill(counter: QuotaCounter): void {
    if (!counter.refilling) void this.#round(counter, false);
  }

  /** Begins a refill before it is needed, where enough is left that nobody else goes short by it. */
  refillAhead(counter: QuotaCounter): void {
    if (counter.refilling || !this.#gate.open) return;
    const left = counter.limit - counter.granted;
    if (leaseSize({ ...this.#demand(counter), left }) > 0) void this.#round(counter, false);
  }

  /** Asks, now and then, whether others have given back what they had leased under a larger limit. */
  lookAgain(counter: QuotaCounter): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (counter.refilling || !this.#gate.open || nowMs < counter.looksAgainAtMs) return;
    counter.looksAgainAtMs = nowMs + LOOK_AGAIN_MS;
    void this.#round(counter, false);
  }

  /** The counter has granted without the ledger, which is told as soon as it is back. */
  owes(counter: QuotaCounter): void {
    this.#indebted.add(counter);
    if (!counter.refilling && this.#gate.claimProbe()) void this.#round(counter, true);
  }

  /** The counter's debt is of a window that is over, or the counter is gone. */
  forget(counter: QuotaCounter): void {
    this.#indebted.delete(counter);
  }

  /** How long it takes to get a lease: as long as a round at least, and longer where others come first. */
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

  /** Never rejects: where the ledger fails, the share rule answers who waits. */
  async #round(counter: QuotaCounter, chargeOnly: boolean): Promise<void> {
    const { ledger, clock, counts, newLeaseId } = this.#options;
    counter.refilling = true;
    const beganAtMs = clock.monotonicMs();
    counter.measureRate(beganAtMs);
    counter.dropGone(beganAtMs);
    const { key, window, debt, giveBack } = counter;
    const { losses } = ledger;
    const wasLost = counter.knownLosses !== losses;
    const atLeast = wasLost ? counter.granted : 0;
    const demand = this.#demand(counter);
    const ask: LeaseAsk = { ...demand, key, window, debt, giveBack, atLeast, chargeOnly };
    // Given back once or never: an answer that is lost must not make it twice.
    counter.giveBack = 0;
    const known = counter.contended || wasLost ? undefined : counter.known;
    const tally = { conflicts: 0, unanswered: 0 };
    try {
      const outcome = await acquireLease(ledger, ask, known, newLeaseId, tally);
      const tookMs = clock.monotonicMs() - beganAtMs;
      this.#rounds.push(tookMs);
      counter.lostRaceMs = tally.conflicts > 0 ? tookMs : counter.lostRaceMs / 2;
      if (this.#rounds.length > ROUNDS_KEPT) this.#rounds.shift();
      counter.knownLosses = losses;
      counts.refills += 1;
      this.#apply(counter, ask, outcome, tally.conflicts > 0);
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

  #apply(counter: QuotaCounter, ask: LeaseAsk, outcome: LeaseOutcome, conflicted: boolean): void {
    // A lease of a window that is over, or of a policy that was changed, is lost.
    const current = counter.window === ask.window && counter.key === ask.key;
    if (outcome.kind === 'unusable') {
      counter.known = undefined;
      counter.contended = false;
      if (current) counter.shareOnly = true;
      this.#options.log.debug({ reason: outcome.reason }, 'a quota is granted by share');
      return;
    }
    this.#options.counts.leased += outcome.size;
    if (counter.key === ask.key) {
      const others = counter.known !== undefined && outcome.begunAt !== counter.known.revision;
      counter.contended = others || conflicted;
      counter.known = outcome.state;
    }
    if (!current) return;
    counter.granted = outcome.granted;
    counter.debt -= outcome.charged;
    if (counter.debt === 0) this.#indebted.delete(counter);
    if (counter.limit < ask.limit) counter.giveBack += outcome.size;
    else counter.unused += outcome.size;
    const aheadMs = Math.max(REFILL_AHEAD_MS, REFILL_AHEAD_ROUNDS * this.#roundMs(counter));
    const soon = Math.ceil(counter.rate * aheadMs);
    counter.lowWater = Math.max(1, soon, Math.floor(outcome.size / 8));
  }

  #probe(): void {
    const [debtor] = this.#debtors();
    if (!this.#gate.claimProbe()) return;
    void (debtor === undefined ? this.#ask() : this.#round(debtor, true));
  }

  /** Where nothing was granted meanwhile, an answer is all that is wanted. Never rejects. */
  async #ask(): Promise<void> {
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
        const knowsMore = one.granted > 0 && one.knownLosses !== this.#options.ledger.losses;
        if ((one.debt > 0 || knowsMore) && !one.refilling) await this.#round(one, true);
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
      log.info('quotas are leased again');
      return;
    }
    const why = { reason, live_data_planes: liveNodes() };
    log.warn(why, 'quotas cannot be leased: each data plane grants its share');
  }
}
