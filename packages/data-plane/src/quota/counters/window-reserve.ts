import { shareOf, type FleetMember, type WindowOfLimit } from '../fleet/fleet.ts';

/** The reserve of this data plane in one window. It is granted only while the ledger is unreachable. */
export class WindowReserve {
  /** Requests that may be granted. */
  left = 0;
  /** The part that a round with the ledger may lease just now. */
  inRound = 0;
  /** How often it was stored in the ledger; 0 as long as it is the share. */
  writes = 0;
  /** The share was reserved, or a part of it released. */
  #isShareReserved = false;
  /** The ledger may have a reserve that this data plane does not know of, in place of its share. */
  #maybeStored = false;

  /** Whether this data plane has had a reserve of the window, from its share or from the ledger. */
  get isKnown(): boolean {
    return this.#isShareReserved || this.writes > 0;
  }

  /** Reserves the share of this data plane, once it applies and unless the ledger knows of a reserve. */
  reserveShare(own: FleetMember, window: WindowOfLimit): void {
    if (this.isKnown || this.#maybeStored) return;
    this.left = shareOf(own, window);
    this.#isShareReserved = this.left > 0;
  }

  /** What is left instead of the share. */
  set(left: number): void {
    this.left = left;
    this.#isShareReserved = true;
  }

  /** The reserve is lost. There may be another share. */
  lose(): void {
    this.left = 0;
    this.inRound = 0;
    this.#isShareReserved = false;
  }

  /** The share of this data plane has become smaller. */
  limitTo(requests: number): void {
    this.left = Math.min(this.left, requests);
    this.inRound = Math.min(this.inRound, requests);
  }

  /** The limit was lowered. */
  lower(part: number): void {
    this.left = Math.floor(this.left * part);
    this.inRound = Math.floor(this.inRound * part);
  }

  /** Until the round ends nothing can be granted from the reserve, because the round may lease all of it. */
  beginRound(): number {
    this.inRound = this.left;
    this.left = 0;
    return this.inRound;
  }

  /** The round has stored this reserve. */
  stored(left: number): void {
    this.left = left;
    this.inRound = 0;
  }

  /**
   * What the round did not lease is reserved again.
   *
   * @param certainlyLeft see `RoundTally`. After a write of unknown outcome no more is reserved, nor the share that is
   *   larger because the limit was raised meanwhile.
   */
  endRound(certainlyLeft: number): void {
    this.left = Math.min(this.left + this.inRound, certainlyLeft);
    this.inRound = 0;
    if (certainlyLeft < Infinity) this.#maybeStored = true;
  }

  startWindow(): void {
    this.lose();
    this.writes = 0;
    this.#maybeStored = false;
  }
}
