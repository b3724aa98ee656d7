import type { Reachability } from './reachability.ts';
import { realTimers, type Timers } from './timers.ts';

/** From an answer, or from none, to the next question. */
export const ASK_EVERY_MS = 2000;

/**
 * Asks for the control plane again and again while it is away. A page that reads nothing meanwhile, such as a form or a
 * page that could not be loaded, would not learn that it is back.
 */
export function askWhileAway(
  { isAway, subscribe }: Pick<Reachability, 'isAway' | 'subscribe'>,
  ask: () => Promise<unknown>,
  timers: Timers = realTimers,
): void {
  let stop: (() => void) | undefined;

  function askLater(): void {
    stop = timers.start(() => {
      // One question at a time: those without an answer would use up the connections of the browser.
      void ask().then(() => {
        if (isAway()) askLater();
      });
    }, ASK_EVERY_MS);
  }

  subscribe(() => {
    stop?.();
    if (isAway()) askLater();
  });
}
