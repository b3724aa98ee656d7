import { createHash } from 'node:crypto';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { BucketBound, EntryOwner } from '../../nats/bucket-bounds.ts';
import type { QuotaPolicy } from '../../routing-table/routing-table.ts';
import { WaitingRequests } from './waiting-requests.ts';
import { WindowReserve } from './window-reserve.ts';
import type { LedgerKey, LedgerState } from '../ledger/ledger.ts';
import type { Leftover } from '../fleet/saved-place.ts';
import { KEEPS_ALL, partToRelease, type Released } from '../recall/recall.ts';

/** A rate is not measured over a shorter time, because a burst would look like a high rate. */
const MIN_RATE_SPAN_MS = 100;

/** What is needed within this time is not released. It is longer than asking the others takes. */
const KEPT_FOR_MS = 10;

/** The part of a policy that a counter needs besides its name. */
type CountedPolicy = Pick<QuotaPolicy, 'limit' | 'windowMs' | 'refuseWithoutStore'>;

/** One entry of each route is few enough to be stored always. */
function ownerOf(policy: QuotaPolicy): EntryOwner | undefined {
  return policy.per === 'route' ? undefined : policy;
}

/**
 * The state of one policy and subject in the current window, as this data plane knows it. `LeasedQuotaStore` decides how
 * it changes.
 */
export class QuotaCounter {
  /**
   * `policy subject`. A counter that the former process has handed over and no request has used yet, or whose policy has
   * windows of another length now, has the hash of its key in the ledger instead.
   */
  name: string;
  limit: number;
  readonly windowMs: number;
  /** While the ledger is unreachable nothing is granted but leases. */
  refuseWithoutStore: boolean;

  window = -1;
  /** By the clock of the ledger, ms since the Unix epoch. */
  startMs = Infinity;
  endMs = -Infinity;
  /** The part of the window that is certain although the clock may be wrong. */
  usableFromMs = Infinity;
  usableUntilMs = -Infinity;

  /** Leased by this data plane and not used. */
  leased = 0;
  /** Granted by this data plane in the window. */
  grantedHere = 0;
  /** Granted to all data planes in the window, as last read from the ledger. */
  grantedToAll = 0;
  /** The reserves of the other data planes in the window, as last read from the ledger. */
  reservedForOthers = 0;
  readonly reserve = new WindowReserve();
  /** Granted from the reserve and not settled yet. */
  debt = 0;
  /** Leased under a larger limit, or given by another data plane, to be returned to the ledger. */
  toReturn = 0;
  /** Nothing was left for this data plane at the last round. */
  exhausted = false;
  /** At that round some of those with a reserve did not say whether they need it. */
  othersSilent = false;
  /** When the ledger may be read again for what others have returned, by the monotonic clock. */
  recheckAtMs = -Infinity;
  /** The time between these reads, ms. */
  recheckMs = 0;
  /** Until then only the reserve is granted, because the ledger has no entry that can be used; by its clock. */
  reserveOnlyUntilMs = -Infinity;
  /** The bound at which the ledger has refused a new entry; undefined if it has not. */
  bound: BucketBound | undefined = undefined;

  ledgerState: LedgerState | undefined = undefined;
  ledgerLosses = 0;
  /** Other data planes have written meanwhile, so the known state is likely old. */
  contended = false;
  /** The duration of the last round with a conflict, ms. It is halved with each round without one. */
  lostRaceMs = 0;
  refilling = false;
  /** A refill starts when no more than this is left of the lease. */
  lowWater = 1;
  readonly waiting = new WaitingRequests();
  /** Recently granted requests per ms. */
  rate = 0;

  /** The key in the ledger. Windows of another length have another key. */
  key: LedgerKey;
  #takes = 0;
  /** The limit was lowered in this window. */
  #lowered = false;
  #measuredAtMs: number;

  /** @param nowMs by the monotonic clock */
  constructor(name: string, policy: CountedPolicy, nowMs: number, key: LedgerKey) {
    this.name = name;
    this.limit = policy.limit;
    this.windowMs = policy.windowMs;
    this.refuseWithoutStore = policy.refuseWithoutStore === true;
    this.key = key;
    this.#measuredAtMs = nowMs;
  }

  static of(name: string, policy: QuotaPolicy, nowMs: number): QuotaCounter {
    const { windowMs } = policy;
    const hash = createHash('sha256').update(`${windowMs} ${name}`).digest('hex');
    return new QuotaCounter(name, policy, nowMs, { hash, windowMs, owner: ownerOf(policy) });
  }

  /** Takes over what the former process with this data folder has left of a window. */
  static ofLeftover(left: Leftover, nowMs: number): QuotaCounter {
    const { hash, window_ms: windowMs, window, limit } = left;
    const counter = new QuotaCounter(hash, { limit, windowMs }, nowMs, { hash, windowMs });
    counter.startWindow(window * windowMs, 0);
    counter.leased = left.unused;
    counter.reserve.set(left.reserve);
    counter.reserve.writes = left.writes;
    counter.debt = left.debt;
    counter.grantedHere = left.debt;
    return counter;
  }

  /** Whether nothing is left of the window, and this data plane has nothing of it, not even to return. */
  get usedUp(): boolean {
    if (this.leased > 0 || this.toReturn > 0) return false;
    const reserved = this.reserve.left + this.reserve.inRound;
    return this.exhausted || (this.grantedToAll >= this.limit && reserved === 0);
  }

  /** Whether other data planes may release a reserve, or return leases of a larger limit. */
  get mayGetReturns(): boolean {
    return this.reservedForOthers > 0 || this.#lowered || this.grantedToAll > this.limit;
  }

  /**
   * Releases reserve that this data plane will not need in the next moment, and a part of the lease if that is not enough:
   * later it can recall from the others in its turn.
   *
   * @param nowMs by the monotonic clock
   * @returns what it still has in reserve, with its debt, and what it gives of its lease
   */
  release(wanted: number, nowMs: number): Released {
    const { writes } = this.reserve;
    // The round may store another reserve than that of now.
    if (this.refilling) return { keeps: KEEPS_ALL, writes, gives: 0 };
    const spanMs = Math.max(MIN_RATE_SPAN_MS, nowMs - this.#measuredAtMs);
    const needed = Math.floor((this.#takes / spanMs) * KEPT_FOR_MS) + this.waiting.count;
    const { left } = this.reserve;
    const spare = left - Math.min(left, Math.max(0, needed - this.leased));
    const released = partToRelease(spare, wanted);
    const gives = released < wanted ? Math.max(0, this.leased - needed) : 0;
    this.leased -= gives;
    this.reserve.set(left - released);
    return { keeps: left - released + this.debt, writes, gives };
  }

  /** @param nowMs by the monotonic clock */
  recheckAfter(recheckMs: number, nowMs: number): void {
    this.recheckMs = recheckMs;
    this.recheckAtMs = nowMs + recheckMs;
  }

  /** Starts the window of this time. The rest of a former lease is lost. */
  startWindow(serverMs: number, marginMs: number): void {
    this.window = Math.floor(serverMs / this.windowMs);
    this.startMs = this.window * this.windowMs;
    this.endMs = this.startMs + this.windowMs;
    this.keepMargin(marginMs);
    this.leased = 0;
    this.grantedHere = 0;
    this.grantedToAll = 0;
    this.reservedForOthers = 0;
    this.reserve.startWindow();
    this.debt = 0;
    this.toReturn = 0;
    this.#lowered = false;
    this.exhausted = false;
    this.othersSilent = false;
    this.recheckAtMs = -Infinity;
    this.recheckMs = 0;
    this.reserveOnlyUntilMs = -Infinity;
    this.bound = undefined;
  }

  /** A lease or reserve is not used within this time of the ends of the window. */
  keepMargin(marginMs: number): void {
    const margin = Math.min(marginMs, this.windowMs / 4);
    this.usableFromMs = this.startMs + margin;
    this.usableUntilMs = this.endMs - margin;
  }

  /** The ledger stores no entry: only the reserve is granted until then, by the clock of the ledger. */
  grantReserveUntil(ms: number, bound?: BucketBound): void {
    this.reserveOnlyUntilMs = Math.min(ms, this.endMs);
    this.bound = bound;
  }

  /** Whether only the reserve is granted although the ledger answers. */
  isReserveOnly(serverMs: number): boolean {
    return serverMs < this.reserveOnlyUntilMs;
  }

  /** A request uses the counter that a former process has handed over. */
  nameAs(name: string, policy: QuotaPolicy): void {
    this.name = name;
    this.key = { ...this.key, owner: ownerOf(policy) };
  }

  /** Whether it applies this policy, with windows of the same length. */
  follows({ limit, refuseWithoutStore = false }: QuotaPolicy): boolean {
    return this.limit === limit && this.refuseWithoutStore === refuseWithoutStore;
  }

  /**
   * Applies a changed policy, with windows of the same length. A lower limit applies at once: the lease is returned, and
   * former grants count.
   */
  applyPolicy(policy: QuotaPolicy): void {
    if (policy.limit < this.limit) {
      this.toReturn += this.leased;
      this.leased = 0;
      this.reserve.lower(policy.limit / this.limit);
      this.#lowered = true;
    }
    if (policy.limit > this.limit) this.exhausted = false;
    this.limit = policy.limit;
    this.refuseWithoutStore = policy.refuseWithoutStore === true;
  }

  /**
   * When to continue, by the clock of the ledger, if nothing can be granted now because the clocks of the data planes may
   * differ on the current window; otherwise undefined.
   */
  wakeAtMs(serverMs: number, marginMs: number): number | undefined {
    if (serverMs < this.usableFromMs) return this.usableFromMs;
    if (serverMs >= this.usableUntilMs) return this.endMs;
    // The ledger may already be at the next window, and usable again soon.
    const soonOver = serverMs >= this.usableUntilMs - 2 * marginMs;
    return soonOver && this.isReserveOnly(serverMs) ? this.endMs : undefined;
  }

  /** Grants one request from the lease. */
  grantFromLease(): void {
    this.leased -= 1;
    this.grantedHere += 1;
    this.#takes += 1;
  }

  /** Grants one request from the reserve. */
  grantFromReserve(): void {
    this.reserve.left -= 1;
    this.debt += 1;
    this.grantedHere += 1;
    this.#takes += 1;
  }

  /** Updates `rate`, if enough time has passed. */
  measureRate(nowMs: number): void {
    const spanMs = nowMs - this.#measuredAtMs;
    if (spanMs < MIN_RATE_SPAN_MS) return;
    this.rate = this.#takes / spanMs;
    this.#takes = 0;
    this.#measuredAtMs = nowMs;
  }

  /** The answer for one request. */
  decision(granted: boolean, remaining: number, serverMs: number): FixedWindow {
    const resetSeconds = Math.max(1, Math.ceil((this.endMs - serverMs) / 1000));
    return { granted, limit: this.limit, remaining, resetSeconds };
  }
}
