import { createHash } from 'node:crypto';
import type { Timer } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import type { Requester } from './quota-store.ts';
import type { LedgerKey, LedgerState } from './ledger.ts';

/** A rate is not measured over a shorter time, because a burst would look like a high rate. */
const MIN_RATE_SPAN_MS = 100;

/** A request that waits for a decision. */
export interface Waiter {
  readonly requester: Requester | undefined;
  readonly answer: (window: FixedWindow) => void;
}

/**
 * The state of one policy and subject in the current window, as this data plane knows it. `LeasedQuotaStore` decides how
 * it changes.
 */
export class QuotaCounter {
  readonly name: string;
  limit: number;
  windowMs: number;

  window = -1;
  /** By the clock of the ledger, ms since the Unix epoch. */
  startMs = Infinity;
  endMs = -Infinity;
  /** The part of the window that is certain although the clock may be wrong. */
  usableFromMs = Infinity;
  usableUntilMs = -Infinity;

  /** Leased and not used. */
  unused = 0;
  /** Granted by this data plane in the window. */
  used = 0;
  /** Granted to all data planes in the window, as last read from the ledger. */
  granted = 0;
  /** Granted from the share and not stored in the ledger yet. */
  debt = 0;
  /** Leased under a larger limit, to be given back. */
  giveBack = 0;
  /** When the ledger may be read again for returned leases, by the monotonic clock. */
  recheckAtMs = -Infinity;
  /** The entry of the ledger is unusable in this window, so the share rule decides. */
  shareOnly = false;

  known: LedgerState | undefined = undefined;
  knownLosses = 0;
  /** Other data planes have written meanwhile, so the known state is likely old. */
  contended = false;
  /** The duration of the last round with a conflict, ms. It is halved with each round without one. */
  lostRaceMs = 0;
  refilling = false;
  /** A refill starts when no more than this is left of the lease. */
  lowWater = 1;
  readonly waiting: Waiter[] = [];
  wake: Timer | undefined = undefined;
  /** Recently granted requests per ms. */
  rate = 0;

  #key: LedgerKey | undefined = undefined;
  #takes = 0;
  /** The limit was lowered in this window. */
  #lowered = false;
  #measuredAtMs: number;

  /** @param nowMs by the monotonic clock */
  constructor(name: string, policy: QuotaPolicy, nowMs: number) {
    this.name = name;
    this.limit = policy.limit;
    this.windowMs = policy.windowMs;
    this.#measuredAtMs = nowMs;
  }

  /** The key of this counter in the ledger. Windows of another length have another key. */
  get key(): LedgerKey {
    this.#key ??= {
      hash: createHash('sha256').update(`${this.windowMs} ${this.name}`).digest('hex'),
      windowMs: this.windowMs,
    };
    return this.#key;
  }

  /** Whether the whole window is granted, and this data plane holds nothing of it, not even to give back. */
  get usedUp(): boolean {
    return this.unused === 0 && this.giveBack === 0 && this.granted >= this.limit;
  }

  /** Whether other data planes may give back leases of a larger limit. */
  get mayGetReturns(): boolean {
    return this.#lowered || this.granted > this.limit;
  }

  /** Starts the window of this time. The rest of a former lease is lost. */
  startWindow(serverMs: number, marginMs: number): void {
    this.window = Math.floor(serverMs / this.windowMs);
    this.startMs = this.window * this.windowMs;
    this.endMs = this.startMs + this.windowMs;
    const margin = Math.min(marginMs, this.windowMs / 4);
    this.usableFromMs = this.startMs + margin;
    this.usableUntilMs = this.endMs - margin;
    this.unused = 0;
    this.used = 0;
    this.granted = 0;
    this.debt = 0;
    this.giveBack = 0;
    this.#lowered = false;
    this.recheckAtMs = -Infinity;
    this.shareOnly = false;
  }

  /** Applies a changed policy. A lower limit applies at once: the unused lease is given back, and former grants count. */
  applyPolicy(policy: QuotaPolicy): void {
    if (policy.windowMs !== this.windowMs) {
      this.windowMs = policy.windowMs;
      this.endMs = -Infinity;
      this.#key = undefined;
      this.known = undefined;
    }
    if (policy.limit < this.limit) {
      this.giveBack += this.unused;
      this.unused = 0;
      this.#lowered = true;
    }
    this.limit = policy.limit;
  }

  /** Removes waiting requests whose caller has left or whose deadline has passed, so that they spend nothing. */
  dropAbandoned(monotonicMs: number): void {
    let kept = 0;
    for (const waiter of this.waiting) {
      if (isAbandoned(waiter.requester, monotonicMs)) continue;
      this.waiting[kept] = waiter;
      kept += 1;
    }
    this.waiting.length = kept;
  }

  /** Grants one request from the lease. */
  takeLeased(): void {
    this.unused -= 1;
    this.used += 1;
    this.#takes += 1;
  }

  /** Grants one request from the share. */
  takeFromShare(): void {
    this.debt += 1;
    this.used += 1;
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
  view(granted: boolean, remaining: number, serverMs: number): FixedWindow {
    const resetSeconds = Math.max(1, Math.ceil((this.endMs - serverMs) / 1000));
    return { granted, limit: this.limit, remaining, resetSeconds };
  }
}

function isAbandoned(requester: Requester | undefined, monotonicMs: number): boolean {
  if (requester === undefined) return false;
  return requester.clientGone || monotonicMs >= requester.deadlineMs;
}
