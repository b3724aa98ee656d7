import type { Clock } from '@gateway/shared/clock';
import type { ResolveName as LookUp } from '@gateway/shared/dns/resolve-name';

/** All addresses of a name; empty if there are none or the lookup takes longer than a second. Never rejects. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** How long a change of the configuration may wait for a name. */
export const RESOLVE_TIMEOUT_MS = 1000;
/** How many lookups may run. Further names are not looked up. */
export const MAX_RUNNING = 1000;

/**
 * Resolves names when a URL is set. A name that does not resolve in time counts as having no address, because data
 * planes check again at every connect.
 */
export function createResolveName(clock: Clock, lookUp: LookUp): ResolveName {
  let running = 0;
  return (name) => {
    if (running >= MAX_RUNNING) return Promise.resolve([]);
    running += 1;
    return new Promise((resolve) => {
      const timer = clock.setTimer(RESOLVE_TIMEOUT_MS, () => resolve([]));
      // A lookup cannot be cancelled, so it counts until it ends.
      void lookUp(name)
        .then(
          ({ addresses }) => resolve(addresses.map(({ address }) => address)),
          () => resolve([]),
        )
        .finally(() => {
          timer.cancel();
          running -= 1;
        });
    });
  };
}
