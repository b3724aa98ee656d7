import type { FleetPlace } from '../fleet/fleet-place.ts';
import type { QuotaCounts } from '../quota-metrics.ts';

/** A window of which a data plane asks the others to release what they do not need. */
export interface RecalledWindow {
  /** That of the quota in the ledger. */
  readonly key: { readonly hash: string; readonly windowMs: number };
  readonly window: number;
  readonly limit: number;
  /** The number of requests that it needs next. */
  readonly wanted: number;
}

/** What a data plane asks for. */
export interface RecallRequest extends RecalledWindow {
  /** The slots of the data planes that may have a reserve. */
  readonly from: readonly number[];
}

/** What one data plane has released: it may not use it any more, whether or not this answer arrives. */
export interface RecallAnswer {
  readonly slot: number;
  /** What it still has in reserve. The rest of its reserve is free, unless it has stored another one meanwhile. */
  readonly keeps: number;
  /** How often it has stored its reserve; 0 if it has its share. */
  readonly writes: number;
  /** A part of its lease, which the data plane that asked returns to the ledger. */
  readonly gives: number;
  /**
   * A reserve that was stored under a share from before this time is that of a former process in its place: it is released
   * too, however often it was stored. Absent if it has a counter of the window.
   */
  readonly former_before_ms?: number | undefined;
}

/** The number that a data plane keeps which releases nothing: all of its reserve, whatever others know of it. */
export const KEEPS_ALL = Number.MAX_SAFE_INTEGER;

/** What a data plane answers. */
export type Released = Omit<RecallAnswer, 'slot'>;

/** What others have just released, by slot. */
export type ReleasedBySlot = ReadonlyMap<number, Released>;

/** Asks the other data planes. Resolves when all have answered, or soon without them; never rejects. */
export type Recall = (request: RecallRequest) => Promise<readonly RecallAnswer[]>;

/** So few are released whole: divided further, the last requests of a window would be refused. */
const MIN_RELEASED = 10;

/**
 * How much of a spare reserve is released: what is wanted, and at least half. So a data plane that needs all of a limit
 * gets it with few questions, and one that needs little leaves the others what they can grant without NATS.
 */
export function partToRelease(spare: number, wanted: number): number {
  return Math.min(spare, Math.max(wanted, MIN_RELEASED, Math.ceil(spare / 2)));
}

export interface RecallerOptions {
  readonly fleet: FleetPlace;
  readonly recall: Recall;
  readonly counts: QuotaCounts;
}

/** What the others have said. */
export interface Recalled {
  readonly released: ReleasedBySlot;
  /** What they gave of their leases, to be returned to the ledger. */
  readonly toReturn: number;
  /** Some did not answer, or could not say what they need, because they take a lease themselves. */
  readonly silent: boolean;
}

/** The number of windows for which others are asked at one time. */
const PARALLEL_RECALLS = 64;
const NOTHING_SAID: Recalled = { released: new Map(), toReturn: 0, silent: true };

/** Recalls from the other data planes what they do not need of a window. */
export class Recaller {
  readonly #options: RecallerOptions;
  #running = 0;

  constructor(options: RecallerOptions) {
    this.#options = options;
  }

  /** Asks all other members of the fleet; none of them while too many recalls are under way. Never rejects. */
  async ask(
    { key, window, limit }: Omit<RecalledWindow, 'wanted'>,
    wanted: number,
  ): Promise<Recalled> {
    const { recall, fleet, counts } = this.#options;
    if (this.#running >= PARALLEL_RECALLS) {
      counts.recallsSkipped += 1;
      return NOTHING_SAID;
    }
    this.#running += 1;
    counts.recalls += 1;
    try {
      const from = fleet.view.others.map(({ slot }) => slot);
      const answers = await recall({ key, window, limit, wanted, from });
      if (answers.length < from.length) counts.recallsUnanswered += 1;
      return {
        released: new Map(answers.map((answer) => [answer.slot, answer])),
        toReturn: answers.reduce((sum, { gives }) => sum + gives, 0),
        silent: answers.filter(({ keeps }) => keeps < limit).length < from.length,
      };
    } finally {
      this.#running -= 1;
    }
  }
}
