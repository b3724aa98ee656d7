import type { Clock } from '@gateway/shared/clock';
import type { Fleet } from './fleet.ts';

export interface GoneMembersOptions {
  /** The id of this data plane. */
  readonly id: string;
  readonly clock: Clock;
  /** Whether heartbeats of another data plane with this id arrive. */
  readonly isLive: (id: string) => boolean;
}

/** A member without heartbeats is removed after this time. Until then its share is reserved for it. */
export const DEAD_MS = 30_000;

/** Decides which members of the fleet are gone and must be removed. Time without a connection does not count. */
export class GoneMembers {
  readonly #options: GoneMembersOptions;
  readonly #sinceMs = new Map<number, number>();

  constructor(options: GoneMembersOptions) {
    this.#options = options;
  }

  /** Heartbeats may have been missed: the time of all members starts again. */
  forget(): void {
    this.#sinceMs.clear();
  }

  /**
   * The slots of members that have been silent for `DEAD_MS`. A former place of this data plane is silent from the start.
   *
   * @param ownSlot the place of this data plane
   */
  find({ members }: Fleet, ownSlot: number | undefined): Set<number> {
    const { id, clock, isLive } = this.#options;
    const nowMs = clock.monotonicMs();
    const silent = members.filter(
      (member) => member.slot !== ownSlot && (member.id === id || !isLive(member.id)),
    );
    const slots = new Set(silent.map(({ slot }) => slot));
    for (const slot of this.#sinceMs.keys()) if (!slots.has(slot)) this.#sinceMs.delete(slot);
    const gone = new Set<number>();
    for (const slot of slots) {
      const sinceMs = this.#sinceMs.get(slot) ?? nowMs;
      this.#sinceMs.set(slot, sinceMs);
      if (nowMs - sinceMs >= DEAD_MS) gone.add(slot);
    }
    return gone;
  }
}
