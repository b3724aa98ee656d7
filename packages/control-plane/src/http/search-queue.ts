import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Clock } from '@gateway/shared/clock';
import PQueue from 'p-queue';

/** How many searches of records and audit events run at a time. The other connections of the pool are for other calls. */
export const MAX_SEARCHES = 4;

/** The maximum wait of a search, and the `Retry-After` of a refused one, ms. */
const MAX_WAIT_MS = 3000;

/** Runs a search when there is room for it. */
export type RunSearch = <T>(signal: AbortSignal, search: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `max` searches at the same time; the others wait, first come, first served. Slow searches then leave
 * connections to Postgres for other calls.
 *
 * A search that has waited for three seconds, or whose signal aborts while it waits, does not start and rejects with
 * gateway_overloaded. Once it runs, only `search` handles the signal.
 *
 * @param what what runs, for the message
 */
export function createSearchQueue(max: number, clock: Clock, what = 'slow searches'): RunSearch {
  const queue = new PQueue({ concurrency: max });
  return async (signal, search) => {
    const waiting = new AbortController();
    const giveUp = () => {
      waiting.abort(overloaded(what));
    };
    const timer = clock.setTimer(MAX_WAIT_MS, giveUp);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    const endWait = () => {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    };
    const run = () => {
      // From here on the queue must not see an abort, or it would start another search while this one runs.
      endWait();
      return search();
    };
    return queue.add(run, { signal: waiting.signal }).finally(endWait);
  };
}

function overloaded(what: string): GatewayError {
  return new GatewayError('gateway_overloaded', `Too many ${what} are running.`, {
    headers: { 'Retry-After': String(MAX_WAIT_MS / 1000) },
  });
}
