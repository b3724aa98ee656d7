import { setTimeout as delay } from 'node:timers/promises';
import { busyUsOf } from './core-use.ts';

const WINDOW_MS = 200;
/** Of one core, over all of them. */
const QUIET_SHARE = 0.15;
const MAX_WAIT_MS = 3_000;

/**
 * Gives a wait until the cores have little to do: what a row left behind (the gateway's records on
 * their way to Postgres), or what others do on the machine, is not to slow the next one. A wait takes
 * up to 3 s, all of them together `budgetMs`.
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
