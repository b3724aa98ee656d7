import { realTimers, type Timers } from './timers.ts';

/** Whether the control plane answers, as the calls of the pages show. */
export interface Reachability {
  readonly isAway: () => boolean;
  /** Calls the listener after each change. @returns the undo */
  readonly subscribe: (listener: () => void) => () => void;
  /** Sends a request, and learns from how it ends. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** A read that takes longer has no answer yet. Changes may wait for data planes, and take longer. */
export const SLOW_READ_MS = 5000;

/** @param send sends a request, as `fetch` does */
export function watchReachability(
  send: (request: Request) => Promise<Response>,
  timers: Timers = realTimers,
): Reachability {
  const listeners = new Set<() => void>();
  let away = false;

  function set(next: boolean): void {
    if (next === away) return;
    away = next;
    for (const listener of listeners) listener();
  }

  return {
    isAway: () => away,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async fetch(request) {
      const stop =
        request.method === 'GET' ? timers.start(() => set(true), SLOW_READ_MS) : () => undefined;
      try {
        const response = await send(request);
        set(saysAway(response));
        return response;
      } catch (error) {
        // A call that the page itself ended says nothing, but one that the page waited for too long does.
        if (!request.signal.aborted || isTimeout(request.signal.reason)) set(true);
        throw error;
      } finally {
        stop();
      }
    },
  };
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** Whether the control plane did not answer itself (a data plane or a proxy did), or answered that it cannot work. */
function saysAway({ status, headers }: Response): boolean {
  if (status === 502 || status === 504) return true;
  const code = headers.get('x-gateway-error');
  return status === 503 && (code === null || code === 'gateway_not_ready');
}
