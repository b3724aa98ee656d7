import { balanced, CLOCK_ERROR_MS, type Fleet, type FleetMember } from './fleet.ts';
import type { SpentPlace } from './fleet-place.ts';
import type { SavedPlace } from './saved-place.ts';

/**
 * The share does not change this long after a process was killed that had a debt. In windows that are longer than this
 * the others may then grant a part of that debt again.
 */
const SPENT_MS = 60_000;

/** In which windows the share may be used: a former process with this data folder used or released it in the others. */
export class UsableWindows {
  #usableFromMs: number;
  #spent: SpentPlace | undefined = undefined;
  #isCertain = false;

  /**
   * @param id of this data plane
   * @param nowMs by the clock of the ledger, if it is known, otherwise by the local clock
   */
  constructor(id: string, nowMs: number, saved: SavedPlace | undefined) {
    this.#usableFromMs = nowMs + CLOCK_ERROR_MS;
    if (saved === undefined) return;
    const { slot, parts, from_ms, owes, leftovers } = saved;
    const isKnown = leftovers !== undefined;
    if (isKnown) {
      this.#usableFromMs = saved.usable_from_ms;
      this.#isCertain = true;
    }
    const beforeMs = owes && !isKnown ? this.#usableFromMs : saved.spent_before_ms;
    if (beforeMs !== undefined) this.#spent = { member: { slot, id, parts, from_ms }, beforeMs };
  }

  /** The share may be used in windows that begin at this time or later. */
  get usableFromMs(): number {
    return this.#usableFromMs;
  }

  /**
   * What was stored under a share that applies from before this time was stored by a former process, and nobody uses it any
   * more. undefined until the time is certain.
   */
  get formerBeforeMs(): number | undefined {
    return this.#isCertain ? this.#usableFromMs : undefined;
  }

  /** What a killed process may have granted; undefined if the ledger knows of all of it. */
  get spent(): SpentPlace | undefined {
    return this.#spent;
  }

  /** @param nowMs by the clock of the ledger, which is known now; the local clock may have been wrong */
  timeIsKnown(nowMs: number): void {
    if (this.#isCertain) return;
    this.#isCertain = true;
    this.#usableFromMs = nowMs + CLOCK_ERROR_MS;
    if (this.#spent !== undefined) {
      this.#spent = { ...this.#spent, beforeMs: this.#usableFromMs };
    }
  }

  /** The place was removed, and what was granted for it is granted again. */
  placeIsLost(): void {
    this.#spent = undefined;
  }

  /** Whether windows that a killed process may have used can still be under way. */
  maySpan(nowMs: number): boolean {
    return this.#spent !== undefined && nowMs < this.#spent.beforeMs + SPENT_MS;
  }
}

/**
 * Whether the share of this data plane in the stored fleet may be used. It may if the others knew of it in time, and if no
 * change of it is still under way.
 */
export class UsableShare {
  #acceptedFromMs: number | undefined;
  /** The revision after which a change may still be stored. */
  #openChange: number | undefined = undefined;

  /** @param acceptedFromMs the start of the share that the former process with this place used */
  constructor(acceptedFromMs: number | undefined) {
    this.#acceptedFromMs = acceptedFromMs;
  }

  /** The start of the share that may be used; undefined before there is one. */
  get acceptedFromMs(): number | undefined {
    return this.#acceptedFromMs;
  }

  /** The share that starts then may be used. */
  accept(fromMs: number): void {
    this.#acceptedFromMs = fromMs;
  }

  /** A change is written over this revision. */
  beginChange(revision: number): void {
    this.#openChange = revision;
  }

  /** The change is stored. */
  endChange(): void {
    this.#openChange = undefined;
  }

  /** The fleet has this revision: a change of another one will never be stored. */
  seen(revision: number): void {
    if (revision !== this.#openChange) this.#openChange = undefined;
  }

  /** What may be used of the stored share. */
  usableParts({ parts, from_ms }: FleetMember): number {
    return this.#openChange === undefined && from_ms === this.#acceptedFromMs ? parts : 0;
  }

  /** The next share: an equal one, or the same again if it is not certain since when the others know of it. */
  nextShare(fleet: Fleet, slot: number, fromMs: number): FleetMember | undefined {
    const stored = fleet.members.find((member) => member.slot === slot);
    const change = balanced(fleet, slot, fromMs);
    if (change !== undefined || stored === undefined) return change;
    const certain = stored.parts === 0 || stored.from_ms === this.#acceptedFromMs;
    return certain ? undefined : { ...stored, from_ms: fromMs };
  }
}
