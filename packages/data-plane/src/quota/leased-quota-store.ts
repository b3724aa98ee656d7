import type { Clock } from '@gateway/shared/clock';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import { CounterTable } from './counters/counter-table.ts';
import { DecisionQueue } from './counters/decision-queue.ts';
import { LeaseTaker, type LeaseTakerOptions } from './counters/lease-taker.ts';
import type { QuotaCounter } from './counters/quota-counter.ts';
import { Reserves } from './counters/reserves.ts';
import type { Waiter } from './counters/waiting-requests.ts';
import { ALL_PARTS, type FleetMember } from './fleet/fleet.ts';
import { hasGrantedItsShare } from './fleet/fleet-place.ts';
import type { Leftover } from './fleet/saved-place.ts';
import { ServerClock, type ServerClockOptions } from './ledger/server-clock.ts';
import { emptyQuotaCounts, type QuotaCounts } from './quota-metrics.ts';
import type { QuotaDecision, QuotaStore, Requester } from './quota-store.ts';
import { remainingOf, viewQuota, type QuotaView, type QuotaViews } from './quota-view.ts';
import type { RecalledWindow, Released } from './recall/recall.ts';

/**
 * The part of the counters whose subjects may be granted requests although the ledger has no room for them. What such a
 * counter has granted is known nowhere else, so it must not be dropped for others.
 */
const UNSTORED_PART = 1 / 4;

type TakerOptions = Pick<
  LeaseTakerOptions,
  'ledger' | 'clock' | 'log' | 'fleet' | 'recall' | 'newLeaseId'
>;

export interface LeasedQuotaOptions extends ServerClockOptions, TakerOptions {
  /** The number of policies and subjects that are counted at one time. */
  readonly maxCounters: number;
  /** What the former process with this data folder has handed over. */
  readonly leftovers?: readonly Leftover[] | undefined;
  /** Called with the time that a request waited for a lease, in seconds. */
  readonly leaseWaited: (seconds: number) => void;
}

/**
 * Enforces quotas over all data planes together: each takes leases of a window from one ledger and grants requests from
 * them. While there is a lease the answer is immediate; otherwise requests wait for a refill. While the ledger is
 * unreachable each data plane grants from its reserve. README.md says how; docs/adr/0030-quota-reserves.md has the
 * guarantees.
 */
export class LeasedQuotaStore implements QuotaStore, QuotaViews {
  readonly counts: QuotaCounts = emptyQuotaCounts();
  readonly #clock: Clock;
  readonly #ledger: LeasedQuotaOptions['ledger'];
  readonly #fleet: LeasedQuotaOptions['fleet'];
  readonly #time: ServerClock;
  readonly #leases: LeaseTaker;
  readonly #counters: CounterTable;
  readonly #reserves: Reserves;
  readonly #queue: DecisionQueue;
  readonly #leaseWaited: (seconds: number) => void;
  readonly #maxUnstored: number;
  #handedOver = false;

  constructor(options: LeasedQuotaOptions) {
    this.#clock = options.clock;
    this.#ledger = options.ledger;
    this.#fleet = options.fleet;
    this.#leaseWaited = options.leaseWaited;
    this.#maxUnstored = options.maxCounters * UNSTORED_PART;
    this.#time = new ServerClock(options, options.clock);
    this.#leases = new LeaseTaker({
      ...options,
      counts: this.counts,
      timeKnown: () => options.serverTimeOffsetMs() !== undefined,
      serverMs: () => this.#serverMs(),
      onRefilled: (counter) => this.#queue.answer(counter),
      onAvailable: () => this.#queue.resume(),
    });
    this.#queue = new DecisionQueue({
      clock: options.clock,
      serverMs: () => this.#serverMs(),
      marginMs: () => this.#time.marginMs,
      leases: this.#leases,
      decide: (counter, first) => this.#decide(counter, this.#serverMs(), first),
    });
    this.#counters = new CounterTable(options.maxCounters, (removed) => {
      this.#leases.forget(removed);
      this.#reserves.forget(removed);
      this.#ledger.forget(removed.key);
    });
    this.#reserves = new Reserves({
      fleet: options.fleet,
      counters: this.#counters,
      maxWindows: options.maxCounters,
      serverMs: () => this.#serverMs(),
    });
    for (const leftover of options.leftovers ?? []) this.#takeOver(leftover);
  }

  /** Counters that were removed before their window had ended. */
  get dropped(): number {
    return this.#counters.dropped;
  }

  /** The number of counters. */
  get size(): number {
    return this.#counters.size;
  }

  /** Whether leases are available; otherwise only the reserve is granted. */
  get leasing(): boolean {
    return this.#leases.open;
  }

  /** The share of this data plane in new windows, from 0 to 1. */
  get share(): number {
    const { own } = this.#fleet.view;
    return own !== undefined && this.#serverMs() >= own.from_ms ? own.parts / ALL_PARTS : 0;
  }

  /**
   * Releases what this data plane does not need of a window, because another recalls it.
   *
   * @returns what it still has in reserve, and what it gives of its lease; undefined if it releases nothing
   */
  release(recalled: RecalledWindow): Released | undefined {
    if (this.#handedOver) return undefined;
    return this.#reserves.release(recalled, this.#clock.monotonicMs());
  }

  /** Whether anything that was granted in the current windows is not settled. */
  hasDebts(): boolean {
    return this.#leases.hasDebts();
  }

  /**
   * Hands over to the next process what this one has left of the current windows: it releases nothing of it any more.
   * undefined if there are too many windows.
   */
  handOver(): readonly Leftover[] | undefined {
    this.#handedOver = true;
    return this.#reserves.handOver();
  }

  /** See `Reserves`. */
  shareChanged(own: FleetMember | undefined): void {
    this.#reserves.shareChanged(own);
    // The fleet was read. Until the next probe of the ledger, requests would be refused, because there is no reserve.
    if (own === undefined) this.#leases.storeAnswered();
  }

  /** @param nowMs by the local wall clock */
  take(
    policy: QuotaPolicy,
    subject: string,
    nowMs: number,
    requester?: Requester,
  ): QuotaDecision | Promise<QuotaDecision> {
    this.counts.takes += 1;
    const serverMs = this.#time.serverMs(nowMs);
    const counter = this.#counters.find(policy, subject) ?? this.#add(policy, subject, serverMs);
    if (!counter.follows(policy)) counter.applyPolicy(policy);
    // Requests that already wait come first.
    const decided = counter.waiting.count === 0 ? this.#decide(counter, serverMs) : undefined;
    return decided ?? this.#wait(counter, serverMs, requester);
  }

  view(policy: QuotaPolicy, subject: string, nowMs: number): Promise<QuotaView> {
    const empty = this.#counters.emptyCounter(policy, subject);
    return viewQuota(this.#counters.withKey(empty.key) ?? empty, policy, {
      serverMs: this.#time.serverMs(nowMs),
      leasing: this.leasing,
      ledger: this.#ledger,
      fleet: this.#fleet.view,
    });
  }

  #add(policy: QuotaPolicy, subject: string, serverMs: number): QuotaCounter {
    const counter = this.#counters.add(policy, subject, this.#clock.monotonicMs(), serverMs);
    // It may be what the former process has handed over.
    counter.keepMargin(this.#time.marginMs);
    return counter;
  }

  /** Takes over what the former process with this data folder has left of a window. */
  #takeOver(leftover: Leftover): void {
    const { unused, writes, debt } = leftover;
    if (debt === 0 && writes === 0 && unused === 0) {
      this.#reserves.takeOver(leftover);
      return;
    }
    const counter = this.#counters.addLeftover(leftover, this.#clock.monotonicMs());
    if (debt > 0) this.#leases.addDebt(counter);
  }

  #serverMs(): number {
    return this.#time.serverMs(this.#clock.nowMs());
  }

  /** Grants or refuses one request, which has waited or not; undefined if it must wait. */
  #decide(counter: QuotaCounter, serverMs: number, waiter?: Waiter): QuotaDecision | undefined {
    const { marginMs } = this.#time;
    if (serverMs >= counter.endMs || serverMs < counter.startMs - 2 * marginMs) {
      this.#leases.forget(counter);
      counter.startWindow(serverMs, marginMs);
      this.#reserves.startWindow(counter);
    }
    if (counter.usedUp) {
      if (counter.mayGetReturns) this.#leases.recheck(counter);
      const refused = counter.decision(false, 0, serverMs);
      const known = counter.grantedToAll >= counter.limit || !counter.othersSilent;
      if (known || hasGrantedItsShare(counter, this.#fleet.view)) return refused;
      return { ...refused, unavailable: true };
    }
    if (counter.wakeAtMs(serverMs, marginMs) !== undefined) return undefined;
    if (counter.leased > 0) {
      counter.grantFromLease();
      if (counter.leased <= counter.lowWater) this.#leases.refillAhead(counter);
      return counter.decision(true, remainingOf(counter), serverMs);
    }
    // A lease that is under way decides what is reserved.
    const { inRound, isKnown } = counter.reserve;
    const undecided = inRound > 0 || (counter.refilling && !isKnown);
    if (undecided || (!counter.isReserveOnly(serverMs) && this.#leases.open)) return undefined;
    return this.#decideAlone(counter, serverMs, waiter);
  }

  /** Decides without the ledger: from the reserve, or not at all. */
  #decideAlone(
    counter: QuotaCounter,
    serverMs: number,
    waiter: Waiter | undefined,
  ): QuotaDecision | undefined {
    this.#reserves.reserveShare(counter);
    const { reserve, refuseWithoutStore } = counter;
    const isShareOnly = counter.isReserveOnly(serverMs);
    const bound = isShareOnly ? counter.bound : undefined;
    if (bound !== undefined && counter.debt === 0 && this.#leases.debts >= this.#maxUnstored) {
      return { ...counter.decision(false, 0, serverMs), unavailable: true, bound };
    }
    if (!refuseWithoutStore && reserve.left > 0) {
      this.counts.reserveTakes += 1;
      this.#leases.addDebt(counter);
      counter.grantFromReserve();
      return counter.decision(true, reserve.left, serverMs);
    }
    if (refuseWithoutStore || !hasGrantedItsShare(counter, this.#fleet.view)) {
      if (!isShareOnly && this.#queue.mayWait(waiter)) return undefined;
      return {
        ...counter.decision(false, 0, serverMs),
        unavailable: true,
        ...(bound && { bound }),
      };
    }
    this.counts.reserveTakes += 1;
    this.#leases.addDebt(counter);
    return counter.decision(false, 0, serverMs);
  }

  #wait(
    counter: QuotaCounter,
    serverMs: number,
    requester: Requester | undefined,
  ): Promise<QuotaDecision> {
    const untilWindow = counter.wakeAtMs(serverMs, this.#time.marginMs) !== undefined;
    this.counts[untilWindow ? 'windowWaits' : 'leaseWaits'] += 1;
    const decided = this.#queue.add(counter, requester);
    if (untilWindow) return decided;
    const sinceMs = this.#clock.monotonicMs();
    return decided.finally(() => this.#leaseWaited((this.#clock.monotonicMs() - sinceMs) / 1000));
  }
}
