import { balanced, type Fleet, type FleetMember } from './fleet.ts';

/**
 * Whether the share of this data plane in the stored fleet may be used. It may if the others knew of it in time, and if no
 * change of it is still under way.
 */
export class ShareCertainty {
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
