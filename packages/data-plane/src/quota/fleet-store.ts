import type { Fleet } from './fleet.ts';
import type { WriteResult } from './ledger.ts';

/** Stores the fleet, changed by compare-and-set. */
export interface FleetStore {
  readonly reachable: boolean;
  /** @throws if it cannot be read */
  read(): Promise<{ readonly fleet: Fleet | undefined; readonly revision: number }>;
  write(fleet: Fleet, revision: number): Promise<WriteResult>;
}

/** What a data plane that stops has left of one window. */
export interface Leftover {
  readonly hash: string;
  readonly window_ms: number;
  readonly window: number;
  readonly reserve: number;
  /** Granted, and not stored in the ledger. */
  readonly debt: number;
}

/** The place in the fleet, as this data plane keeps it on disk. */
export interface SavedPlace {
  readonly slot: number;
  readonly parts: number;
  readonly from_ms: number;
  /** It has granted what the ledger does not know of. */
  readonly owes: boolean;
  /** After an orderly stop without NATS: all windows of which it had used or given up anything. */
  readonly leftovers?: readonly Leftover[] | undefined;
}
