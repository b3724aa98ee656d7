import { lookup } from 'node:dns/promises';
import type { Clock } from '@gateway/shared/clock';

/** All addresses of a name; empty if there are none or the lookup takes longer than a second. Never rejects. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** Looks the addresses of a name up; rejects if there are none. */
type LookUp = (name: string) => Promise<readonly string[]>;

/** How long a change of the configuration may wait for a name. */
export const RESOLVE_TIMEOUT_MS = 1000;
/** Node has four threads for lookups, files and compression. A silent name server must not occupy them all. */
export const MAX_PARALLEL = 2;
/** How many names may wait for a lookup. Further names are not looked up. */
export const MAX_WAITING = 1000;

/**
 * Resolves names when a URL is set. A name that does not resolve in time counts as having no address, because data
 * planes check again at every connect.
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
      // A lookup cannot be cancelled, so it counts until it ends.
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

/** Uses the hosts file, name servers and search list of this machine. */
async function bySystem(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
