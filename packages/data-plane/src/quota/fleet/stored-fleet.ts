import type { WriteResult } from '../../nats/kv-write.ts';
import { NO_FLEET, remove, type Fleet } from './fleet.ts';

/** Stores the fleet, changed by compare-and-set. */
export interface FleetStore {
  readonly reachable: boolean;
  /** @throws if it cannot be read */
  read(): Promise<{ readonly fleet: Fleet | undefined; readonly revision: number }>;
  write(fleet: Fleet, revision: number): Promise<WriteResult>;
}

export interface StoredFleetOptions {
  readonly store: FleetStore;
  /** The time by the clock of the ledger, ms; an estimate while that clock is unknown. */
  readonly serverMs: () => number;
}

/** The stored fleet, as it was last read or written here. */
export class StoredFleet {
  readonly #options: StoredFleetOptions;
  readonly #onRead: () => void;
  #fleet = NO_FLEET;
  #revision = 0;
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined = undefined;

  /** @param onRead called after each read */
  constructor(options: StoredFleetOptions, onRead: () => void) {
    this.#options = options;
    this.#onRead = onRead;
  }

  get fleet(): Fleet {
    return this.#fleet;
  }

  get revision(): number {
    return this.#revision;
  }

  /** By the clock of the ledger. The fleet was so at this time or later. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** @throws if it cannot be read */
  read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** @returns false if it is not known to be stored */
  async write(fleet: Fleet): Promise<boolean> {
    const result = await this.#options.store.write(fleet, this.#revision);
    if (result.kind !== 'written') return false;
    // A read may have found this write, or a later one, already.
    if (result.revision > this.#revision) {
      this.#fleet = fleet;
      this.#revision = result.revision;
    }
    return true;
  }

  /**
   * Removes a member, also if others change the fleet meanwhile.
   *
   * @param beforeWrite called when the member may be removed from then on, whether or not that is answered
   * @returns false if others were always quicker
   * @throws if the fleet cannot be read or written
   */
  async remove(slot: number, maxTries: number, beforeWrite: () => void): Promise<boolean> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      await this.read();
      beforeWrite();
      if (await this.write(remove(this.#fleet, new Set([slot])))) return true;
    }
    return false;
  }

  async #readNow(): Promise<void> {
    const sentMs = this.#options.serverMs();
    const { fleet, revision } = await this.#options.store.read();
    this.#revision = revision;
    if (fleet !== undefined) this.#fleet = fleet;
    else if (this.#fleet.members.length > 0 && !(await this.write(this.#fleet))) {
      // The store has lost its data. The others have not come back yet, and still have their shares.
      throw new Error('the fleet was stored by another');
    }
    this.#readAtMs = Math.max(this.#readAtMs, sentMs);
    this.#onRead();
  }
}
