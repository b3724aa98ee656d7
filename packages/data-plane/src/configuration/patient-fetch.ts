import type { Arrivals } from '../nats/arrivals.ts';
import { backOffMs } from '@gateway/shared/clock';
import type { FetchSnapshot } from './snapshot-fetch.ts';

export interface PatientFetch {
  readonly fetch: FetchSnapshot;
  readonly arrivals: Arrivals;
  readonly signal: AbortSignal;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  /** @param failures that were before this one */
  readonly onFailure: (failures: number, cause: unknown) => void;
}

const BACK_OFF = { firstMs: 100, maxMs: 5000 };

/**
 * Fetches an object, again and again with back-off where it cannot be had.
 *
 * @returns undefined where it cannot be had and something else has come, or the signal aborted
 */
export async function fetchUnlessMoreComes(
  object: string,
  { fetch, arrivals, signal, random, onFailure }: PatientFetch,
): Promise<Uint8Array | undefined> {
  const isOver = () => signal.aborted;
  const before = arrivals.count;
  for (let failures = 0; !isOver(); failures += 1) {
    try {
      return await fetch(object, signal);
    } catch (cause) {
      if (isOver()) return undefined;
      onFailure(failures, cause);
    }
    if (arrivals.count > before) return undefined;
    if (!(await arrivals.nothingWithin(backOffMs(failures + 1, BACK_OFF, random())))) {
      return undefined;
    }
  }
  return undefined;
}
