import type { Fleet } from './fleet.ts';
import type { WriteResult } from './ledger.ts';

/** Stores the fleet, changed by compare-and-set. */
export interface FleetStore {
  readonly reachable: boolean;
  /** @throws if it cannot be read */
  read(): Promise<{ readonly fleet: Fleet | undefined; readonly revision: number }>;
  write(fleet: Fleet, revision: number): Promise<WriteResult>;
}
