import { shareOf, shareOfLimit, type FleetMember, type WindowOfLimit } from '../fleet/fleet.ts';
import { isSpent, type FleetView } from '../fleet/fleet-place.ts';
import type { Released, ReleasedBySlot } from '../recall/recall.ts';
import type { LedgerEntry, Reserve } from './ledger.ts';

/** What those that answered still have in reserve. */
export function stillReserved(released: ReleasedBySlot): number {
  let reserved = 0;
  for (const { keeps } of released.values()) reserved += keeps;
  return reserved;
}

/**
 * The reserves of all data planes but this one: the share of each, unless the entry says what is left of it. A member that
 * has left has no reserve; one that this view does not know yet has what the entry says.
 *
 * @param reserves those of the entry for this window
 */
export function reservedForOthers(
  reserves: LedgerEntry['reserves'],
  window: WindowOfLimit,
  fleet: FleetView,
  released: ReleasedBySlot,
): number {
  let reserved = 0;
  for (const member of fleet.others) {
    const stored = reserves[member.slot];
    const left = leftAfter(released.get(member.slot), stored);
    reserved += Math.min(reserveOf(member, stored, window), left);
  }
  if (isSpent(window, fleet) && fleet.spent !== undefined) {
    const { member } = fleet.spent;
    reserved += reserveOf(member, reserves[member.slot], window);
  }
  for (const [slot, { requests }] of Object.entries(reserves)) {
    if (Number(slot) >= fleet.nextSlot && Number(slot) !== fleet.own?.slot) reserved += requests;
  }
  return reserved;
}

/** The reserves to store with this data plane's own: those of members that have left are gone. */
export function nextReserves(
  reserves: LedgerEntry['reserves'],
  window: WindowOfLimit,
  own: number,
  fleet: FleetView,
  released: ReleasedBySlot,
): LedgerEntry['reserves'] {
  const next: Record<string, Reserve> = {};
  for (const [slot, reserve] of Object.entries(reserves)) {
    if (Number(slot) >= fleet.nextSlot) next[slot] = reserve;
  }
  for (const member of fleet.others) {
    const { slot } = member;
    const stored = reserves[slot];
    const left = leftAfter(released.get(slot), stored);
    if (left < reserveOf(member, stored, window)) {
      next[slot] = { ...(stored ?? { writes: 0, from_ms: member.from_ms }), requests: left };
    } else if (stored !== undefined) next[slot] = stored;
  }
  if (fleet.own === undefined) return next;
  const { slot, from_ms } = fleet.own;
  const stored = reserves[slot];
  if (!isSpent(window, fleet)) {
    next[slot] = { requests: own, writes: (stored?.writes ?? 0) + 1, from_ms };
  } else if (stored !== undefined) next[slot] = stored;
  return next;
}

/**
 * A member whose share has become smaller since it stored its reserve has no more than that share. If the share has grown
 * meanwhile, this view may be the one from before, so the member has what it stored.
 */
function reserveOf(
  member: FleetMember,
  stored: Reserve | undefined,
  window: WindowOfLimit,
): number {
  if (stored === undefined) return shareOf(member, window);
  if (stored.from_ms !== member.from_ms) return stored.requests;
  return Math.min(stored.requests, shareOfLimit(window.limit, member.parts));
}

/** What a release has left of a reserve: all of it, if the member has stored its reserve again since. */
function leftAfter(released: Released | undefined, stored: Reserve | undefined): number {
  if (released === undefined) return Infinity;
  const { keeps, writes, former_before_ms: formerBeforeMs = -Infinity } = released;
  const nothingStoredSince = writes === (stored?.writes ?? 0);
  const storedByFormer = (stored?.from_ms ?? Infinity) < formerBeforeMs;
  return nothingStoredSince || storedByFormer ? keeps : Infinity;
}
