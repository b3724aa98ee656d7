import type { LookupAddress } from 'node:dns';
import type { Clock } from '../clock.ts';
import { lookupError, NO_ANSWER } from './resolve-name.ts';

/** Asks the resolver of the system. */
export type LookUp = (hostname: string) => Promise<readonly LookupAddress[]>;

/** How many names may wait. */
const MAX_WAITING = 1_000;
const TIMEOUT_MS = 5_000;

/**
 * Runs one lookup of the system at a time. Each occupies a thread until it ends, and the process has few of them, which
 * files, compression and other connections need as well. Rejects with `ETIMEOUT` after five seconds, the wait included.
 */
export function oneAtATime(lookUp: LookUp, clock: Clock): LookUp {
  const waiting = new Set<() => void>();
  let running = false;

  function next(): void {
    const [first] = waiting;
    if (first === undefined || running) return;
    waiting.delete(first);
    first();
  }

  return (hostname) =>
    new Promise((resolve, reject) => {
      const late = () => reject(lookupError(NO_ANSWER, hostname));
      if (waiting.size >= MAX_WAITING) {
        late();
        return;
      }
      const timer = clock.setTimer(TIMEOUT_MS, () => {
        waiting.delete(start);
        late();
      });
      const start = () => {
        running = true;
        void lookUp(hostname)
          .then(resolve, reject)
          .finally(() => {
            timer.cancel();
            running = false;
            next();
          });
      };
      waiting.add(start);
      next();
    });
}
