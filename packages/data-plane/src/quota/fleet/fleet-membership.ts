import type { Timer } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import { CLOCK_ERROR_MS, join, remove, withMember, type FleetMember } from './fleet.ts';
import { NO_VIEW, type FleetPlace, type FleetView } from './fleet-place.ts';
import type { Leftover, SavedPlace } from './saved-place.ts';
import { GoneMembers, type GoneMembersOptions } from './gone-members.ts';
import { UsableShare, UsableWindows } from './usable-share.ts';
import { StoredFleet, type StoredFleetOptions } from './stored-fleet.ts';

export interface FleetMembershipOptions extends GoneMembersOptions, StoredFleetOptions {
  readonly log: Logger;
  /** Whether the clock of the ledger is known. Before, the fleet is not read. */
  readonly timeKnown: () => boolean;
  /** The place that the former process with this data folder had. */
  readonly saved: SavedPlace | undefined;
  /** Keeps the place on disk before it returns; undefined after leaving the fleet. */
  readonly save: (place: SavedPlace | undefined) => void;
}

/** What a member uses its share for. */
export interface ShareHolder {
  /**
   * Called before the share of this data plane changes and when the change is stored, with its next place; undefined if it
   * has lost its place.
   */
  shareChanged(next: FleetMember | undefined): void;
  /** Whether it has granted anything from a reserve that is not settled yet. */
  hasDebts(): boolean;
  /** Hands over what it has left of all windows of which it used or released anything; undefined if there are too many. */
  handOver(): readonly Leftover[] | undefined;
}

const REFRESH_MS = 500;
/** A view of the fleet is used for windows that begin at most this long after it was read. */
export const VIEW_MS = 1000;
/** A larger share applies from this time on: by then no data plane uses a view without it any more. */
const LEAD_MS = 2500;
/** A change that lost to another data plane is tried again at once, this often. */
const MAX_TRIES = 5;

/**
 * The place of this data plane in the fleet: it joins, takes an equal share, makes room for others, and removes members
 * that are gone. Each step is one compare-and-set; a step that fails is taken again at the next refresh.
 */
export class FleetMembership implements FleetPlace {
  readonly #options: FleetMembershipOptions;
  readonly #windows: UsableWindows;
  readonly #gone: GoneMembers;
  readonly #stored: StoredFleet;
  #slot: number | undefined;
  #own: FleetMember | undefined = undefined;
  #view = NO_VIEW;
  readonly #share: UsableShare;
  #holder: ShareHolder | undefined = undefined;
  #hasDebt = false;
  #keeping: Promise<void> | undefined = undefined;
  #timer: Timer | undefined = undefined;
  #stopped = false;

  constructor(options: FleetMembershipOptions) {
    this.#options = options;
    this.#gone = new GoneMembers(options);
    this.#stored = new StoredFleet(options, () => this.#fleetWasRead());
    const { id, saved } = options;
    this.#windows = new UsableWindows(id, options.serverMs(), saved);
    this.#share = new UsableShare(saved?.from_ms);
    if (saved === undefined) return;
    const { slot, parts, from_ms, owes } = saved;
    this.#slot = slot;
    this.#hasDebt = owes;
    this.#setPlace({ slot, id, parts, from_ms });
    // This process has the leftovers now. If it is killed, nobody has them.
    this.#save();
  }

  /** Joins the fleet, and keeps the place in it. */
  start(holder: ShareHolder): void {
    this.#holder = holder;
    void this.#tick();
  }

  get view(): FleetView {
    return this.#view;
  }

  viewFor(startMs: number): FleetView | Promise<FleetView> {
    return this.#holdsFor(startMs) ? this.#view : this.#readFor(startMs);
  }

  noteDebt(): void {
    if (this.#hasDebt) return;
    this.#hasDebt = true;
    this.#save();
  }

  /**
   * Leaves the fleet, so that this data plane has no reserves any more. While NATS is away its place stays, for
   * the next process with this data folder. If the answer of NATS is lost, the next process takes the place without a
   * share, so that it can use what is still reserved there. Never rejects.
   */
  async leave(): Promise<void> {
    const { store, save, log } = this.#options;
    this.#stopped = true;
    this.#timer?.cancel();
    if (this.#slot === undefined) return;
    if (this.#hasDebt || !store.reachable) {
      this.#save(this.#holder?.handOver());
      return;
    }
    const place = this.#placeWithoutShare(this.#slot);
    try {
      // From the write on the others may have the share. Nothing is saved afterwards: see `#save`.
      if (await this.#stored.remove(this.#slot, MAX_TRIES, () => save(place))) save(undefined);
    } catch (error) {
      log.info({ reason: String(error) }, 'the quota fleet could not be left at the stop');
    }
  }

  /** For the next process, if it is not known whether this one has left. It has no share until it takes one. */
  #placeWithoutShare(slot: number): SavedPlace {
    const { usableFromMs, spent } = this.#windows;
    return {
      slot,
      parts: 0,
      from_ms: 0,
      usable_from_ms: usableFromMs,
      spent_before_ms: spent?.beforeMs,
      owes: false,
    };
  }

  async #tick(): Promise<void> {
    const { store, clock, log, serverMs } = this.#options;
    if (this.#hasDebt && this.#holder?.hasDebts() === false && !this.#windows.maySpan(serverMs())) {
      this.#hasDebt = false;
      this.#save();
    }
    if (!store.reachable || !this.#options.timeKnown()) this.#gone.forget();
    else {
      try {
        await this.#keepPlace();
      } catch (error) {
        // Heartbeats may have been missed as well.
        this.#gone.forget();
        log.debug({ reason: String(error) }, 'the quota fleet could not be read or changed');
      }
    }
    if (!this.#stopped) this.#timer = clock.setTimer(REFRESH_MS, () => void this.#tick());
  }

  /** Joins, or changes what is to be changed; only once at a time. */
  #keepPlace(): Promise<void> {
    this.#keeping ??= this.#steps().finally(() => (this.#keeping = undefined));
    return this.#keeping;
  }

  async #steps(): Promise<void> {
    let done = false;
    for (let tries = 0; !done && tries < MAX_TRIES; tries += 1) {
      await this.#stored.read();
      done = this.#stopped || (await this.#step());
    }
  }

  async #readFor(startMs: number): Promise<FleetView> {
    await this.#stored.read();
    if (!this.#holdsFor(startMs)) await this.#keepPlace();
    if (!this.#holdsFor(startMs)) throw new Error('this data plane has no place in the fleet yet');
    return this.#view;
  }

  /** Only members may lease: a data plane that is alone can then take its share at once. */
  #holdsFor(startMs: number): boolean {
    return this.#view.own !== undefined && startMs <= this.#view.validForMs;
  }

  /** Looks at the stored fleet. What is not certain about the own share counts as no share. */
  #fleetWasRead(): void {
    const { fleet, revision, readAtMs } = this.#stored;
    if (readAtMs > -Infinity) this.#windows.timeIsKnown(readAtMs);
    this.#share.seen(revision);
    const { id } = this.#options;
    const stored = fleet.members.find((one) => one.slot === this.#slot && one.id === id);
    if (stored === undefined) {
      if (this.#own !== undefined) this.#holder?.shareChanged(undefined);
      this.#windows.placeIsLost();
      this.#setPlace(undefined);
      return;
    }
    this.#setPlace({ ...stored, parts: this.#share.usableParts(stored) });
  }

  /** The share applies only to windows that no former process can have used: all that is stored under it is this process's. */
  #setPlace(place: FleetMember | undefined): void {
    const { usableFromMs, spent, formerBeforeMs } = this.#windows;
    const own = place && { ...place, from_ms: Math.max(place.from_ms, usableFromMs) };
    this.#own = own;
    const { fleet, readAtMs } = this.#stored;
    const others = fleet.members.filter(({ slot }) => slot !== own?.slot);
    this.#view = {
      own,
      spent,
      formerBeforeMs,
      others,
      nextSlot: fleet.next_slot,
      validForMs: readAtMs + VIEW_MS,
    };
  }

  /** @returns false if another data plane has changed the fleet meanwhile */
  async #step(): Promise<boolean> {
    const nowMs = this.#options.serverMs();
    const gone = this.#gone.find(this.#stored.fleet, this.#slot);
    if (this.#own === undefined) return this.#join(gone);
    if (gone.size > 0) {
      const removed = await this.#stored.write(remove(this.#stored.fleet, gone));
      if (removed) this.#setPlace(this.#own);
      return removed;
    }
    // Nobody has a view of the fleet without the only member.
    const alone = this.#stored.fleet.members.length === 1;
    const fromMs = alone ? nowMs : nowMs + LEAD_MS;
    const change = this.#share.nextShare(this.#stored.fleet, this.#own.slot, fromMs);
    if (change === undefined || this.#hasDebt) return true;
    return this.#changeShare(change, alone);
  }

  async #join(gone: Set<number>): Promise<boolean> {
    // The place that this data folder had under another id is free at once, if it has no debt.
    if (this.#slot !== undefined && !this.#hasDebt) gone.add(this.#slot);
    const slot = this.#stored.fleet.next_slot;
    if (!(await this.#stored.write(join(remove(this.#stored.fleet, gone), this.#options.id))))
      return false;
    this.#slot = slot;
    this.#share.accept(0);
    this.#fleetWasRead();
    this.#save();
    // The next step takes a share.
    return false;
  }

  /** Until the change is known to be stored, or not, this data plane has no share. */
  async #changeShare(change: FleetMember, alone: boolean): Promise<boolean> {
    const { serverMs } = this.#options;
    this.#share.beginChange(this.#stored.revision);
    this.#setPlace({ ...change, parts: 0 });
    this.#holder?.shareChanged(change);
    if (!(await this.#stored.write(withMember(this.#stored.fleet, change)))) return false;
    this.#share.endChange();
    const inTime = serverMs() <= change.from_ms - VIEW_MS - CLOCK_ERROR_MS;
    if (alone || inTime) this.#share.accept(change.from_ms);
    this.#fleetWasRead();
    this.#save();
    this.#holder?.shareChanged(change);
    return true;
  }

  #save(leftovers?: readonly Leftover[]): void {
    // A change that was under way at the stop must not bring back a place that was left.
    const isLate = this.#stopped && leftovers === undefined;
    if (this.#own === undefined || isLate) return;
    const { slot, parts } = this.#own;
    const from_ms = this.#share.acceptedFromMs ?? 0;
    this.#options.save({
      slot,
      parts,
      from_ms,
      usable_from_ms: this.#windows.usableFromMs,
      spent_before_ms: this.#windows.spent?.beforeMs,
      owes: this.#hasDebt,
      leftovers,
    });
  }
}
