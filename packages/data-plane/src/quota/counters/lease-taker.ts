import { messageOf } from '@gateway/shared/errors/message-of';
import { LeaseRounds, type LeaseRoundsOptions } from './lease-rounds.ts';
import { leaseSize } from '../ledger/lease-size.ts';
import type { QuotaCounter } from './quota-counter.ts';
import { StoreGate } from '../ledger/store-gate.ts';

export interface LeaseTakerOptions extends Omit<LeaseRoundsOptions, 'onAnswered' | 'onSettled'> {
  /** Whether the clock of the ledger is known. Without it the current window is unknown. */
  readonly timeKnown: () => boolean;
  /** Called when a round with the ledger has ended, in whatever way. */
  readonly onRefilled: (counter: QuotaCounter) => void;
  /** Called when leases are available again. */
  readonly onAvailable: () => void;
}

const PARALLEL_SETTLEMENTS = 32;
/** Not the hash of any quota, so nothing is stored under it. */
const NO_KEY = { hash: '0', windowMs: 1000 };

/** Refills the leases of counters from the ledger, one round at a time for each counter, and settles their debts. */
export class LeaseTaker {
  readonly #options: LeaseTakerOptions;
  readonly #gate: StoreGate;
  readonly #indebted = new Set<QuotaCounter>();
  readonly #rounds: LeaseRounds;

  constructor(options: LeaseTakerOptions) {
    this.#options = options;
    this.#gate = new StoreGate({
      clock: options.clock,
      usable: () => options.ledger.reachable && options.timeKnown(),
      probe: () => this.#probe(),
      onChange: (open, reason) => {
        this.#report(open, reason);
        if (!open) return;
        void this.#settleDebts();
        options.onAvailable();
      },
    });
    this.#rounds = new LeaseRounds({
      ...options,
      onAnswered: () => this.#gate.answered(),
      onSettled: (counter) => this.forget(counter),
    });
  }

  /** Whether leases are available; otherwise only the reserve is granted. */
  get open(): boolean {
    return this.#gate.open;
  }

  /** NATS has answered another question, so leases are available again. */
  storeAnswered(): void {
    this.#gate.answered();
  }

  /** How long a ledger that does not answer now is still expected to answer soon, ms; otherwise 0. */
  get slowForMs(): number {
    return this.#gate.slowForMs;
  }

  /** Starts a refill unless one is running. */
  refill(counter: QuotaCounter): void {
    if (!counter.refilling) void this.#round(counter, false);
  }

  /** Starts a refill before it is needed, if enough is left for the other data planes. */
  refillAhead(counter: QuotaCounter): void {
    if (counter.refilling || !this.#gate.open) return;
    const left = counter.limit - counter.grantedToAll - counter.reservedForOthers;
    const demand = { ...this.#rounds.demand.of(counter), left, reserve: counter.reserve.left };
    if (leaseSize(demand) > 0) void this.#round(counter, false);
  }

  /** Checks at intervals whether other data planes have released or returned anything. */
  recheck(counter: QuotaCounter): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (counter.refilling || !this.#gate.open || nowMs < counter.recheckAtMs) return;
    void this.#round(counter, false);
  }

  /** The counter grants from its reserve. The debt is settled as soon as the ledger is back. */
  addDebt(counter: QuotaCounter): void {
    this.#options.fleet.noteDebt();
    this.#indebted.add(counter);
    if (!counter.refilling && this.#gate.claimProbe()) void this.#round(counter, true);
  }

  /** The number of counters with a debt. */
  get debts(): number {
    return this.#indebted.size;
  }

  /** Whether anything that was granted in the current windows is not settled. */
  hasDebts(): boolean {
    this.#debtors();
    return this.#indebted.size > 0;
  }

  /** The debt of the counter belongs to a window that has ended, or the counter was removed. */
  forget(counter: QuotaCounter): void {
    this.#indebted.delete(counter);
  }

  /** Never rejects: if the ledger fails, requests that wait are granted from the reserve. */
  async #round(counter: QuotaCounter, settleOnly: boolean): Promise<void> {
    try {
      await this.#rounds.run(counter, settleOnly);
    } catch (error) {
      this.#gate.failed(messageOf(error));
    }
    this.#options.onRefilled(counter);
  }

  #probe(): void {
    const [debtor] = this.#debtors();
    if (!this.#gate.claimProbe()) return;
    void (debtor === undefined ? this.#ping() : this.#round(debtor, true));
  }

  /** Checks whether the ledger answers, if there is no debt to settle. Never rejects. */
  async #ping(): Promise<void> {
    try {
      await this.#options.ledger.read(NO_KEY);
      this.#gate.answered();
    } catch (error) {
      this.#gate.failed(messageOf(error));
    }
  }

  async #settleDebts(): Promise<void> {
    const debtors = this.#debtors();
    const settleNext = async (): Promise<void> => {
      for (let one = debtors.pop(); one !== undefined; one = debtors.pop()) {
        // After a loss the ledger may have forgotten grants that this data plane knows of.
        const mayRestore = one.grantedToAll > 0 && one.ledgerLosses !== this.#options.ledger.losses;
        if ((one.debt > 0 || mayRestore) && !one.refilling) await this.#round(one, true);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_SETTLEMENTS }, settleNext));
  }

  #debtors(): QuotaCounter[] {
    const serverMs = this.#options.serverMs();
    for (const one of this.#indebted) if (one.endMs <= serverMs) this.forget(one);
    return [...this.#indebted].filter((one) => !one.refilling);
  }

  #report(open: boolean, reason: string): void {
    const { log, fleet } = this.#options;
    if (open) {
      log.info('quota leases available again');
      return;
    }
    const fields = { reason, fleet: fleet.view.others.length + 1 };
    log.warn(fields, 'quota leases unavailable; granting the share of this data plane');
  }
}
