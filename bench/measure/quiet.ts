import { setTimeout as delay } from 'node:timers/promises';
import { busyUsOf } from './core-use.ts';

const WINDOW_MS = 200;
/** Busy time of all cores together, as a share of one core. */
const QUIET_SHARE = 0.15;
const MAX_WAIT_MS = 3_000;

/**
 * Returns a function that waits until the cores are nearly idle, so that neither work left over from the previous row
 * nor other users of the machine slow down the next row. A wait takes at most 3 s, and all waits together `budgetMs`.
 */
export function createQuietWait(
  cores: readonly number[],
  budgetMs: number,
  signal: AbortSignal,
): () => Promise<void> {
  const busyUs = () => cores.reduce((sum, core) => sum + busyUsOf(core), 0);
  let leftMs = budgetMs;
  return async () => {
    const endMs = performance.now() + Math.min(MAX_WAIT_MS, leftMs);
    for (let before = busyUs(); performance.now() < endMs;) {
      await delay(WINDOW_MS, undefined, { signal });
      leftMs -= WINDOW_MS;
      const now = busyUs();
      if (now - before < WINDOW_MS * 1_000 * QUIET_SHARE) return;
      before = now;
    }
  };
}
