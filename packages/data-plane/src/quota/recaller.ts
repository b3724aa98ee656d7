import type { FleetPlace } from './fleet-view.ts';
import type { GivenUpBySlot } from './held-back.ts';
import type { QuotaCounter } from './quota-counter.ts';
import type { QuotaCounts } from './quota-counts.ts';
import type { Recall } from './recall.ts';

export interface RecallerOptions {
  readonly fleet: FleetPlace;
  readonly recall: Recall;
  readonly counts: QuotaCounts;
}

/** What the others have said. */
export interface Recalled {
  readonly givenUp: GivenUpBySlot;
  /** Some did not answer, or could not say what they need, because they take a lease themselves. */
  readonly silent: boolean;
}

/** The number of windows for which others are asked at one time. */
const PARALLEL_RECALLS = 64;
const NOTHING_SAID: Recalled = { givenUp: new Map(), silent: true };

/** Asks the other data planes for what they do not need of the window of a counter. */
export class Recaller {
  readonly #options: RecallerOptions;
  #running = 0;

  constructor(options: RecallerOptions) {
    this.#options = options;
  }

  /** @param wanted the number of requests that the counter needs */
  async ask(counter: QuotaCounter, wanted: number): Promise<Recalled> {
    const { recall, fleet, counts } = this.#options;
    if (this.#running >= PARALLEL_RECALLS) {
      counts.recallsSkipped += 1;
      return NOTHING_SAID;
    }
    const { key, window, limit } = counter;
    this.#running += 1;
    counts.recalls += 1;
    try {
      const from = fleet.view.others.map(({ slot }) => slot);
      const answers = await recall({ key, window, limit, wanted, from });
      if (answers.length < from.length) counts.recallsUnanswered += 1;
      if (counter.window !== window) return NOTHING_SAID;
      for (const { gives } of answers) counter.giveBack += gives;
      const said = answers.filter(({ keeps }) => keeps < limit).length;
      return {
        givenUp: new Map(answers.map((answer) => [answer.slot, answer])),
        silent: said < from.length,
      };
    } finally {
      this.#running -= 1;
    }
  }
}
