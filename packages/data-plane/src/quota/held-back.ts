import { equalParts, partOf, shareOf, type FleetMember, type WindowOfLimit } from './fleet.ts';
import type { FleetView } from './fleet-view.ts';
import type { LedgerEntry, Reserve } from './ledger.ts';
import type { GivenUp } from './recall.ts';

/** What others have just given up, by slot. */
export type GivenUpBySlot = ReadonlyMap<number, GivenUp>;

/** What those that answered still keep back. */
export function keptBy(givenUp: GivenUpBySlot): number {
  let kept = 0;
  for (const { keeps } of givenUp.values()) kept += keeps;
  return kept;
}

/**
 * What is kept back of the window for all data planes but this one: their share, unless the entry says what is left of
 * it. A member that has left has no reserve; one that this view does not know yet has what the entry says.
 *
 * @param reserves those of the entry for this window
 */
export function heldForOthers(
  reserves: LedgerEntry['reserves'],
  window: WindowOfLimit,
  fleet: FleetView,
  givenUp: GivenUpBySlot,
): number {
  let held = 0;
  for (const member of fleet.others) {
    const stored = reserves[member.slot];
    held += Math.min(reserveOf(member, stored, window), keeps(stored, givenUp.get(member.slot)));
  }
  if (isSpent(window, fleet) && fleet.spent !== undefined) {
    const { member } = fleet.spent;
    held += reserveOf(member, reserves[member.slot], window);
  }
  for (const [slot, { requests }] of Object.entries(reserves)) {
    if (Number(slot) >= fleet.nextSlot && Number(slot) !== fleet.own?.slot) held += requests;
  }
  return held;
}

/** The reserves to store with this data plane's own: those of members that have left are gone. */
export function nextReserves(
  reserves: LedgerEntry['reserves'],
  window: WindowOfLimit,
  own: number,
  fleet: FleetView,
  givenUp: GivenUpBySlot,
): LedgerEntry['reserves'] {
  const next: Record<string, Reserve> = {};
  for (const [slot, reserve] of Object.entries(reserves)) {
    if (Number(slot) >= fleet.nextSlot) next[slot] = reserve;
  }
  for (const member of fleet.others) {
    const { slot } = member;
    const stored = reserves[slot];
    const kept = keeps(stored, givenUp.get(slot));
    if (kept < reserveOf(member, stored, window)) {
      next[slot] = { ...(stored ?? { writes: 0, from_ms: member.from_ms }), requests: kept };
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

/** Whether a former process with this place may have used its reserve of the window. */
export function isSpent(
  { startMs }: Pick<WindowOfLimit, 'startMs'>,
  { spent }: FleetView,
): boolean {
  return spent !== undefined && startMs < spent.beforeMs;
}

/**
 * Whether this data plane has granted an equal part of the limit in this window. Then the quota counts as used up here,
 * although more may be left elsewhere. A part of less than one request cannot be granted.
 */
export function hasGrantedItsPart(
  { used, limit }: { readonly used: number; readonly limit: number },
  { others }: FleetView,
): boolean {
  const part = partOf(limit, equalParts(others.length + 1));
  return part > 0 && used >= part;
}

/**
 * A member whose part has become smaller since it stored its reserve keeps no more than that. If the part has grown
 * meanwhile, this view may be the one from before, so the member keeps what it stored.
 */
function reserveOf(
  member: FleetMember,
  stored: Reserve | undefined,
  window: WindowOfLimit,
): number {
  if (stored === undefined) return shareOf(member, window);
  if (stored.from_ms !== member.from_ms) return stored.requests;
  return Math.min(stored.requests, partOf(window.limit, member.parts));
}

/** A member that has stored a reserve since it gave something up has not given that up. */
function keeps(stored: Reserve | undefined, givenUp: GivenUp | undefined): number {
  if (givenUp === undefined) return Infinity;
  const { keeps: kept, writes, former_before_ms: formerBeforeMs = -Infinity } = givenUp;
  const nothingStoredSince = writes === (stored?.writes ?? 0);
  const storedByFormer = (stored?.from_ms ?? Infinity) < formerBeforeMs;
  return nothingStoredSince || storedByFormer ? kept : Infinity;
}
