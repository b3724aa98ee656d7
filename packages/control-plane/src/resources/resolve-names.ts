import { lookup } from 'node:dns/promises';
import type { Clock } from '@gateway/shared/clock';

/** Every address that a name has; none where that cannot be told within a second. Never rejects. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** Asks for the addresses of a name in the way of the machine; rejects where there are none. */
type LookUp = (name: string) => Promise<readonly string[]>;

/** So long a change of configuration waits for names at most. */
export const RESOLVE_TIMEOUT_MS = 1000;
/** Of the four threads that Node has for this, files and compression: a name server may be silent. */
export const MAX_PARALLEL = 2;
/** Names that wait for their turn; what comes beyond is not looked up. */
export const MAX_WAITING = 1000;

/**
 * Resolves names for the check of URLs when they are set. A name that has no addresses now, or of which
 * nobody tells in time, has none: the data planes look again at every connect.
 */
export function createResolveName(clock: Clock, lookUp: LookUp = bySystem): ResolveName {
  const waiting = new Set<() => void>();
  let running = 0;

  function next(): void {
    const [first] = waiting;
    if (first === undefined || running >= MAX_PARALLEL) return;
    waiting.delete(first);
    first();
  }

  return (name) => {
    if (waiting.size >= MAX_WAITING) return Promise.resolve([]);
    return new Promise((resolve) => {
      const end = (addresses: readonly string[]) => {
        timer.cancel();
        waiting.delete(start);
        resolve(addresses);
      };
      const timer = clock.setTimer(RESOLVE_TIMEOUT_MS, () => {
        end([]);
      });
      // A look-up cannot be called off, so it counts until it ends by itself.
      const start = () => {
        running += 1;
        void lookUp(name)
          .then(end, () => end([]))
          .finally(() => {
            running -= 1;
            next();
          });
      };
      waiting.add(start);
      next();
    });
  };
}

/** By the hosts file, the name servers and the search list of this machine. */
async function bySystem(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
