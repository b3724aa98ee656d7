import { LONG_WINDOW_MS } from './fleet.ts';
import type { Leftover } from './saved-place.ts';
import type { LedgerKey } from './ledger.ts';
import type { QuotaCounter } from './quota-counter.ts';

/** More are not kept: the next process takes a new place. */
const MAX_LEFTOVERS = 10_000;

/** What the former process with this data folder left of windows that have not ended. */
export class Leftovers {
  readonly #byHash: Map<string, Leftover>;

  constructor(leftovers: readonly Leftover[]) {
    this.#byHash = new Map(leftovers.map((one) => [one.hash, one]));
  }

  has({ hash }: LedgerKey, window: number): boolean {
    return this.#byHash.get(hash)?.window === window;
  }

  /** The leftover of this window, once. */
  take(key: LedgerKey, window: number): Leftover | undefined {
    if (!this.has(key, window)) return undefined;
    const leftover = this.#byHash.get(key.hash);
    this.#byHash.delete(key.hash);
    return leftover;
  }

  /**
   * Whether there are debts of windows that have not ended. Those of long windows do not count: until a request takes them
   * the share could not change for hours, and what is kept back covers them.
   */
  owes(serverMs: number): boolean {
    return this.remaining(serverMs).some(
      ({ debt, window_ms }) => debt > 0 && window_ms < LONG_WINDOW_MS,
    );
  }

  /** Those that nobody has taken. */
  remaining(serverMs: number): readonly Leftover[] {
    for (const [hash, { window, window_ms }] of this.#byHash) {
      if ((window + 1) * window_ms <= serverMs) this.#byHash.delete(hash);
    }
    return [...this.#byHash.values()];
  }
}

/** What a data plane has left of the current windows; undefined if there are too many. */
export function leftoversOf(
  counters: Iterable<QuotaCounter>,
  former: Leftovers,
  serverMs: number,
): readonly Leftover[] | undefined {
  const leftovers = [...former.remaining(serverMs)];
  for (const counter of counters) {
    if (counter.endMs <= serverMs || !counter.reserve.known) continue;
    const { key, window, debt } = counter;
    const { left: reserve } = counter.reserve;
    leftovers.push({ hash: key.hash, window_ms: key.windowMs, window, reserve, debt });
    if (leftovers.length > MAX_LEFTOVERS) return undefined;
  }
  return leftovers;
}
