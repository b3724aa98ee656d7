import type { CounterTable } from './counter-table.ts';
import { partOf, shareOf, type FleetMember } from './fleet.ts';
import type { FleetPlace } from './fleet-view.ts';
import { isSpent } from './held-back.ts';
import type { QuotaCounter } from './quota-counter.ts';
import { GivenUpWindows, partToGiveUp, type GivenUp, type RecalledWindow } from './recall.ts';

export interface KeptReservesOptions {
  readonly fleet: FleetPlace;
  readonly counters: CounterTable;
  /** The number of windows without a counter of which reserve is given up. */
  readonly maxWindows: number;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
}

/** What is kept back for this data plane, of windows with a counter and of those without. */
export class KeptReserves {
  readonly givenUp: GivenUpWindows;
  readonly #options: KeptReservesOptions;

  constructor(options: KeptReservesOptions) {
    this.#options = options;
    this.givenUp = new GivenUpWindows(options.maxWindows);
  }

  /** The counter has begun a window: it has the share of this data plane, or what is left of that. */
  startWindow(counter: QuotaCounter): void {
    this.takeShare(counter);
    const kept = this.givenUp.keeps(counter.key, counter.window);
    if (kept !== undefined) counter.reserve.set(Math.min(kept, counter.reserve.left));
  }

  /** The share may hold by now. */
  takeShare(counter: QuotaCounter): void {
    const { view } = this.#options.fleet;
    if (view.own === undefined || isSpent(counter, view)) return;
    counter.reserve.takeShare(view.own, counter);
  }

  /** A counter was removed. If it is made again in this window, it must not have the reserve a second time. */
  forget({ key, window, limit, endMs }: QuotaCounter): void {
    const serverMs = this.#options.serverMs();
    if (endMs > serverMs) this.givenUp.add(key, { window, limit, keeps: 0 }, serverMs);
  }

  /**
   * Gives up what this data plane does not need of a window, because another asks for it.
   *
   * @param nowMs by the monotonic clock
   * @returns what it still keeps back, and what it gives of its lease; undefined if it gives up nothing
   */
  giveUp({ key, window, limit, wanted }: RecalledWindow, nowMs: number): GivenUp | undefined {
    const { fleet, counters } = this.#options;
    const startMs = window * key.windowMs;
    const { own, formerBeforeMs } = fleet.view;
    // Before the fleet was read the local clock may be wrong about what a former process used.
    if (own === undefined || formerBeforeMs === undefined) return undefined;
    if (isSpent({ startMs }, fleet.view)) return undefined;
    const counter = counters.withKey(key);
    if (counter?.window === window) return counter.giveUp(wanted, nowMs);
    if (counter !== undefined && counter.window > window) return { keeps: 0, writes: 0, gives: 0 };
    // Without a counter this process has not stored its reserve. A former one in its place may have.
    const spare = this.givenUp.keeps(key, window) ?? shareOf(own, { limit, startMs });
    const keeps = spare - partToGiveUp(spare, wanted);
    const noted = this.givenUp.add(key, { window, limit, keeps }, this.#options.serverMs());
    return noted ? { keeps, writes: 0, gives: 0, former_before_ms: formerBeforeMs } : undefined;
  }

  /**
   * The place of this data plane in the fleet changes, or has changed; undefined if it is lost. Of the current windows it
   * keeps no more than its new part, and no share that holds from a later window on. The next lease of each window brings
   * its reserve up to the new part.
   */
  shareChanged(own: FleetMember | undefined): void {
    for (const counter of this.#options.counters.all()) {
      const { reserve, limit } = counter;
      counter.lowWater = Infinity;
      if (own === undefined) reserve.lose();
      else if (reserve.writes === 0) reserve.limitTo(shareOf(own, counter));
      else reserve.limitTo(partOf(limit, own.parts));
    }
  }
}
