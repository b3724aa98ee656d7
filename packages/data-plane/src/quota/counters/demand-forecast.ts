import type { FleetPlace } from '../fleet/fleet-place.ts';
import type { LeaseDemand } from '../ledger/lease-size.ts';
import type { QuotaCounter } from './quota-counter.ts';

/** A lease should last for this part of the window at the recent rate. */
const LEASE_PART = 1 / 60;
/** A lease should last for no less time than this. */
const MIN_LEASE_MS = 250;
/** A lease should last for no more time than this, unless the ledger is slow. */
const MAX_LEASE_MS = 1000;
/** With a slow ledger a lease should last for this many rounds. */
const LEASE_ROUNDS = 3;
/** A refill starts when the lease lasts no longer than this at the recent rate. */
const REFILL_AHEAD_MS = 50;
/** With a slow ledger a refill starts this many rounds before the lease is used up. */
const REFILL_AHEAD_ROUNDS = 1.5;
/** The latency of the ledger is that of the quickest of the last rounds; a single slow one often has other reasons. */
const ROUNDS_KEPT = 4;
const MAX_ROUND_MS = 1000;

/** Forecasts what a counter needs of its next lease, from its recent rate and from how long rounds with the ledger take. */
export class DemandForecast {
  readonly #fleet: FleetPlace;
  /** The durations of the last rounds, ms. */
  readonly #rounds: number[] = [];

  constructor(fleet: FleetPlace) {
    this.#fleet = fleet;
  }

  roundTook(tookMs: number): void {
    this.#rounds.push(tookMs);
    if (this.#rounds.length > ROUNDS_KEPT) this.#rounds.shift();
  }

  /** What the next lease of the counter should suffice for. */
  of(counter: QuotaCounter): Omit<LeaseDemand, 'left' | 'reserve'> {
    const leaseMs = Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, counter.windowMs * LEASE_PART));
    return {
      limit: counter.limit,
      nodes: this.#fleet.view.others.length + 1,
      // A refused counter takes a lease of one for the next request.
      waiting: Math.max(counter.waiting.count, counter.usedUp ? 1 : 0),
      expected: Math.ceil(counter.rate * Math.max(leaseMs, LEASE_ROUNDS * this.#roundMs(counter))),
    };
  }

  /** A refill should start when no more than this is left of a lease of this size. */
  lowWaterOf(counter: QuotaCounter, size: number): number {
    const aheadMs = Math.max(REFILL_AHEAD_MS, REFILL_AHEAD_ROUNDS * this.#roundMs(counter));
    return Math.max(1, Math.ceil(counter.rate * aheadMs), Math.floor(size / 8));
  }

  /** The expected time of a round, ms; longer after rounds that lost to other data planes. */
  #roundMs({ lostRaceMs }: QuotaCounter): number {
    const quickest = this.#rounds.length === 0 ? 0 : Math.min(...this.#rounds);
    return Math.min(MAX_ROUND_MS, Math.max(quickest, lostRaceMs));
  }
}
