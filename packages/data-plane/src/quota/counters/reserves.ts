import { shareOf, shareOfLimit, type FleetMember } from '../fleet/fleet.ts';
import { isSpent, type FleetPlace } from '../fleet/fleet-place.ts';
import type { Leftover } from '../fleet/saved-place.ts';
import { partToRelease, type RecalledWindow, type Released } from '../recall/recall.ts';
import type { CounterTable } from './counter-table.ts';
import type { QuotaCounter } from './quota-counter.ts';

export interface ReservesOptions {
  readonly fleet: FleetPlace;
  readonly counters: CounterTable;
  /** The number of windows without a counter of which reserve is released. */
  readonly maxWindows: number;
  /** The time by the clock of the ledger. */
  readonly serverMs: () => number;
}

/** More are not handed over: the next process then has none of the windows that have begun. */
const MAX_LEFTOVERS = 10_000;

/** The reserves of this data plane, of windows with a counter and of those without. */
export class Reserves {
  readonly #options: ReservesOptions;
  readonly #released: ReleasedWindows;

  constructor(options: ReservesOptions) {
    this.#options = options;
    this.#released = new ReleasedWindows(options.maxWindows);
  }

  /** The counter has begun a window: its reserve is the share of this data plane, or what a release has left of that. */
  startWindow(counter: QuotaCounter): void {
    this.reserveShare(counter);
    const left = this.#released.left(counter.key, counter.window);
    if (left !== undefined) counter.reserve.set(Math.min(left, counter.reserve.left));
  }

  /** The share may apply by now. */
  reserveShare(counter: QuotaCounter): void {
    const { view } = this.#options.fleet;
    if (view.own === undefined || isSpent(counter, view)) return;
    counter.reserve.reserveShare(view.own, counter);
  }

  /** A counter was removed. If it is made again in this window, it must not have the reserve a second time. */
  forget({ key, window, limit, endMs }: QuotaCounter): void {
    const serverMs = this.#options.serverMs();
    if (endMs > serverMs) this.#released.add(key, { window, limit, left: 0 }, serverMs);
  }

  /**
   * Releases what this data plane does not need of a window, because another recalls it.
   *
   * @param nowMs by the monotonic clock
   * @returns what it still has in reserve, and what it gives of its lease; undefined if it releases nothing
   */
  release({ key, window, limit, wanted }: RecalledWindow, nowMs: number): Released | undefined {
    const { fleet, counters } = this.#options;
    const startMs = window * key.windowMs;
    const { own, formerBeforeMs } = fleet.view;
    // Before the fleet was read the local clock may be wrong about what a former process used.
    if (own === undefined || formerBeforeMs === undefined) return undefined;
    if (isSpent({ startMs }, fleet.view)) return undefined;
    const counter = counters.withKey(key);
    if (counter?.window === window) return counter.release(wanted, nowMs);
    if (counter !== undefined && counter.window > window) return { keeps: 0, writes: 0, gives: 0 };
    // Without a counter this process has not stored its reserve. A former one in its place may have.
    const spare = this.#released.left(key, window) ?? shareOf(own, { limit, startMs });
    const left = spare - partToRelease(spare, wanted);
    if (!this.#released.add(key, { window, limit, left }, this.#options.serverMs()))
      return undefined;
    return { keeps: left, writes: 0, gives: 0, former_before_ms: formerBeforeMs };
  }

  /**
   * The place of this data plane in the fleet changes, or has changed; undefined if it is lost. Its reserves of the current
   * windows are no larger than its new share, and there is none of a share that applies from a later window on. The next
   * lease of each window brings its reserve up to the new share.
   */
  shareChanged(own: FleetMember | undefined): void {
    for (const counter of this.#options.counters.all()) {
      const { reserve, limit } = counter;
      counter.lowWater = Infinity;
      if (own === undefined) reserve.lose();
      else if (reserve.writes === 0) reserve.limitTo(shareOf(own, counter));
      else reserve.limitTo(shareOfLimit(limit, own.parts));
    }
  }

  /**
   * What this process hands over to the next one: what is left of all windows of which it used or released anything.
   * undefined if these are too many.
   */
  handOver(): readonly Leftover[] | undefined {
    const serverMs = this.#options.serverMs();
    const leftovers: Leftover[] = [];
    for (const [hash, { windowMs, window, left, limit }] of this.#released.all()) {
      if ((window + 1) * windowMs <= serverMs) continue;
      const former = { hash, window_ms: windowMs, window, limit };
      leftovers.push({ ...former, unused: 0, reserve: left, writes: 0, debt: 0 });
      if (leftovers.length > MAX_LEFTOVERS) return undefined;
    }
    for (const {
      key,
      window,
      endMs,
      limit,
      leased,
      debt,
      reserve,
    } of this.#options.counters.all()) {
      if (endMs <= serverMs || !reserve.isKnown) continue;
      const { left, writes } = reserve;
      const former = { hash: key.hash, window_ms: key.windowMs, window, limit };
      leftovers.push({ ...former, unused: leased, reserve: left, writes, debt });
      if (leftovers.length > MAX_LEFTOVERS) return undefined;
    }
    return leftovers;
  }

  /** Takes over what the former process with this data folder had left of a window that it only released. */
  takeOver({ hash, window_ms: windowMs, window, limit, reserve }: Leftover): void {
    const left = { window, limit, left: reserve };
    this.#released.add({ hash, windowMs }, left, this.#options.serverMs());
  }
}

/** A window without a counter, of which reserve was released. */
interface ReleasedWindow {
  readonly windowMs: number;
  readonly window: number;
  readonly limit: number;
  /** What is still reserved. */
  readonly left: number;
}

/** The number of entries that are looked at for each new one. */
const SCANNED = 8;

/**
 * The windows of which this data plane has released reserve, but has no counter. A counter that is made later has only
 * what is left. At the bound nothing more is released.
 */
export class ReleasedWindows {
  readonly #max: number;
  readonly #windows = new Map<string, ReleasedWindow>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @returns false if there is no room, so that nothing is released */
  add(
    { hash, windowMs }: RecalledWindow['key'],
    released: Omit<ReleasedWindow, 'windowMs'>,
    serverMs: number,
  ): boolean {
    const known = this.#windows.get(hash);
    if (known === undefined && !this.#hasRoom(serverMs)) return false;
    if (known !== undefined && known.window > released.window) return true;
    this.#windows.delete(hash);
    this.#windows.set(hash, { windowMs, ...released });
    return true;
  }

  /** What is left in reserve of this window; undefined if nothing was released. */
  left({ hash }: Pick<RecalledWindow['key'], 'hash'>, window: number): number | undefined {
    const known = this.#windows.get(hash);
    return known?.window === window ? known.left : undefined;
  }

  all(): Iterable<readonly [hash: string, released: ReleasedWindow]> {
    return this.#windows;
  }

  /** Removes some windows that have ended, the oldest entries first: a full scan would cost too much for each new one. */
  #hasRoom(serverMs: number): boolean {
    let scanned = 0;
    for (const [hash, { window, windowMs }] of this.#windows) {
      if ((window + 1) * windowMs < serverMs) this.#windows.delete(hash);
      scanned += 1;
      if (scanned === SCANNED) break;
    }
    return this.#windows.size < this.#max;
  }
}
