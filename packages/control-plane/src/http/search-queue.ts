import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { Clock } from '@gateway/shared/clock';
import PQueue from 'p-queue';

/** A search waits at most this long; the caller is told to retry after as long, ms. */
const MAX_WAIT_MS = 3000;

/** Runs a search when there is room for it. */
export type RunSearch = <T>(signal: AbortSignal, search: () => Promise<T>) => Promise<T>;

/**
 * Lets at most `max` searches run at one time; the others wait, first come first served. So slow
 * searches take no more than their part of the connections to Postgres.
 *
 * A search that waited for three seconds, or whose signal aborts while it waits, is not begun and
 * rejects with gateway_overloaded. Once it runs, the signal is left to `search`.
 */
export function createSearchQueue(max: number, clock: Clock): RunSearch {
  const queue = new PQueue({ concurrency: max });
  return async (signal, search) => {
    const waiting = new AbortController();
    const giveUp = () => {
      waiting.abort(overloaded());
    };
    const timer = clock.setTimer(MAX_WAIT_MS, giveUp);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    const endWait = () => {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    };
    const run = () => {
      // From here on the queue must not see an abort: it would give the place away while the search runs.
      endWait();
      return search();
    };
    return queue.add(run, { signal: waiting.signal }).finally(endWait);
  };
}

function overloaded(): GatewayError {
  return new GatewayError('gateway_overloaded', 'Too many slow searches are running.', {
    headers: { 'Retry-After': String(MAX_WAIT_MS / 1000) },
  });
}
