import { equalParts, shareOfLimit, type FleetMember, type WindowOfLimit } from './fleet.ts';

/**
 * A killed process has granted what the ledger does not know of. In windows that began before this time the reserve of its
 * place covers that, so the process that has the place now neither uses nor changes it.
 */
export interface SpentPlace {
  readonly member: FleetMember;
  readonly beforeMs: number;
}

/** The fleet as one data plane knows it. */
export interface FleetView {
  /** The place of this data plane; undefined if it has none yet. */
  readonly own: FleetMember | undefined;
  /** What a killed process with this place may have granted; undefined if the ledger knows of all of it. */
  readonly spent: SpentPlace | undefined;
  /** See `UsableWindows`; undefined before the fleet was read, and then this data plane releases nothing. */
  readonly formerBeforeMs: number | undefined;
  readonly others: readonly FleetMember[];
  /** Members that joined later have this slot or a higher one. */
  readonly nextSlot: number;
  /** The view is valid for windows that begin until this time, by the clock of the ledger, ms. */
  readonly validForMs: number;
}

/** Before the fleet was read. */
export const NO_VIEW: FleetView = {
  own: undefined,
  spent: undefined,
  formerBeforeMs: undefined,
  others: [],
  nextSlot: 0,
  validForMs: -Infinity,
};

/** The place of this data plane in the fleet, as the quotas use it. */
export interface FleetPlace {
  /** The fleet as last read. */
  readonly view: FleetView;
  /**
   * The fleet as it is for windows that begin at `startMs`, by the clock of the ledger; read again if necessary.
   *
   * @throws if it cannot be read
   */
  viewFor(startMs: number): FleetView | Promise<FleetView>;
  /** Called before a grant from the reserve: until it is settled this data plane has a debt. */
  noteDebt(): void;
}

/** Whether a killed process with this place may have granted from its reserve of the window. */
export function isSpent(
  { startMs }: Pick<WindowOfLimit, 'startMs'>,
  { spent }: FleetView,
): boolean {
  return spent !== undefined && startMs < spent.beforeMs;
}

/**
 * Whether this data plane has granted an equal share of the limit in this window. Then the quota counts as used up here,
 * although more may be left elsewhere. A share of less than one request cannot be granted.
 */
export function hasGrantedItsShare(
  { grantedHere, limit }: { readonly grantedHere: number; readonly limit: number },
  { others }: FleetView,
): boolean {
  const share = shareOfLimit(limit, equalParts(others.length + 1));
  return share > 0 && grantedHere >= share;
}
