import { createHash } from 'node:crypto';
import type { Timer } from '@gateway/shared/clock';
import type { FixedWindow } from '@gateway/shared/fixed-window';
import type { QuotaPolicy } from '../routing-table/routing-table.ts';
import type { Asker } from './quota-store.ts';
import type { LedgerKey, LedgerState } from './ledger.ts';

/** Shorter spans say little of a rate: a burst would look like a flood. */
const MIN_RATE_SPAN_MS = 100;

/** A request that waits for its answer. */
export interface Waiter {
  readonly asker: Asker | undefined;
  readonly answer: (window: FixedWindow) => void;
}

/**
 * What this data plane knows of one policy and subject in the current window. Plain numbers: what they
 * may become is decided in `LeasedQuotaStore`.
 */
export class QuotaCounter {
  readonly name: string;
  limit: number;
  windowMs: number;

  window = -1;
  /** By the ledger's clock, ms since the Unix epoch. */
  startMs = Infinity;
  endMs = -Infinity;
  /** Within the window by whatever the clock may be wrong. */
  usableFromMs = Infinity;
  usableUntilMs = -Infinity;

  /** Leased and not used. */
  unused = 0;
  /** Taken by this data plane in the window. */
  used = 0;
  /** Granted to all in the window, as the ledger told last. */
  granted = 0;
  /** Taken without the ledger, and not told to it yet. */
  debt = 0;
  /** Leased under a larger limit; goes back. */
  giveBack = 0;
  /** By the monotonic clock. */
  looksAgainAtMs = -Infinity;
  /** The ledger is of no use for this key in this window. */
  shareOnly = false;

  known: LedgerState | undefined = undefined;
  knownLosses = 0;
  /** Other data planes have come first, so what is known is likely old. */
  contended = false;
  /** How long the last round took in which others came first, ms; halved with each in which none did. */
  lostRaceMs = 0;
  refilling = false;
  /** A refill begins when no more than this is left of the lease. */
  lowWater = 1;
  readonly waiting: Waiter[] = [];
  wake: Timer | undefined = undefined;
  /** Taken per ms, lately. */
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

  /** Where the ledger counts this. Another length of windows is another count from its beginning. */
  get key(): LedgerKey {
    this.#key ??= {
      hash: createHash('sha256').update(`${this.windowMs} ${this.name}`).digest('hex'),
      windowMs: this.windowMs,
    };
    return this.#key;
  }

  /** Whether all of the window is granted, and nothing of it here, not even to give back. */
  get usedUp(): boolean {
    return this.unused === 0 && this.giveBack === 0 && this.granted >= this.limit;
  }

  /** Whether others may give back some of what all were granted: leases under a limit that was larger. */
  get mayBecomeLess(): boolean {
    return this.#lowered || this.granted > this.limit;
  }

  /** Begins the window that holds this time, with nothing in hand. What was left of the old one is lost. */
  turn(serverMs: number, marginMs: number): void {
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
    this.looksAgainAtMs = -Infinity;
    this.shareOnly = false;
  }

  /**
   * Takes over a changed policy. A lower limit holds at once: what is leased and not used goes back, and
   * what all were granted before counts.
   */
  adopt(policy: QuotaPolicy): void {
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

  /** Forgets who waits no more: what they asked for would be spent on nobody. */
  dropGone(monotonicMs: number): void {
    let kept = 0;
    for (const waiter of this.waiting) {
      if (isGone(waiter.asker, monotonicMs)) continue;
      this.waiting[kept] = waiter;
      kept += 1;
    }
    this.waiting.length = kept;
  }

  takeLeased(): void {
    this.unused -= 1;
    this.used += 1;
    this.#takes += 1;
  }

  takeOfShare(): void {
    this.debt += 1;
    this.used += 1;
    this.#takes += 1;
  }

  measureRate(nowMs: number): void {
    const spanMs = nowMs - this.#measuredAtMs;
    if (spanMs < MIN_RATE_SPAN_MS) return;
    this.rate = this.#takes / spanMs;
    this.#takes = 0;
    this.#measuredAtMs = nowMs;
  }

  view(granted: boolean, remaining: number, serverMs: number): FixedWindow {
    const resetSeconds = Math.max(1, Math.ceil((this.endMs - serverMs) / 1000));
    return { granted, limit: this.limit, remaining, resetSeconds };
  }
}

function isGone(asker: Asker | undefined, monotonicMs: number): boolean {
  return asker !== undefined && (asker.clientGone || monotonicMs >= asker.deadlineMs);
}
