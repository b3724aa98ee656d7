import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { pause, type Clock } from '@gateway/shared/clock';

/** A turn is given up after so long; a caller is told to come back as late, ms. */
const MAX_WAIT_MS = 3000;

/** Runs a piece of work when it is its turn. */
export type TakeTurn = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/**
 * Lets at most `max` pieces of work run at one time; the others wait for their turn, first come first
 * served. So what may be slow takes no more than its part of a pool that everybody needs.
 *
 * The turn rejects with gateway_overloaded where it did not come within three seconds, or once the
 * signal aborts; the work is not begun then.
 */
export function createTurns(max: number, clock: Clock): TakeTurn {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function awaitTurn(signal: AbortSignal): Promise<void> {
    if (running < max) {
      running += 1;
      return;
    }
    const given = new AbortController();
    const give = () => {
      given.abort();
    };
    waiting.push(give);
    await pause(clock, MAX_WAIT_MS, AbortSignal.any([signal, given.signal]));
    if (!given.signal.aborted) waiting.splice(waiting.indexOf(give), 1);
    else if (!signal.aborted) return;
    // Given in the moment in which it was given up.
    else passOn();
    throw new GatewayError('gateway_overloaded', 'Too many slow searches are under way.', {
      headers: { 'Retry-After': String(MAX_WAIT_MS / 1000) },
    });
  }

  function passOn(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (signal, work) => {
    await awaitTurn(signal);
    try {
      return await work();
    } finally {
      passOn();
    }
  };
}
