import { pause, type Clock } from '@gateway/shared/clock';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isConflict } from '../../store/failures.ts';
import { LockBusyError } from './change-lock.ts';

/** How long a change waits for others, ms. gwctl waits 30 s for an answer. */
export const CHANGE_WAIT_MS = 20_000;
/** Between two tries for a lock, ms; later a tenth of the wait, or many waiting changes would keep the database busy. */
const TRY_EVERY_MS = 50;

/**
 * Runs a transaction again if it met another one: a deadlock, a serialization failure, a lock that another change holds.
 * That is safe, because nothing of a failed transaction stays.
 *
 * @param isConflictOf other errors after which the change succeeds
 * @param signal aborts if the caller has gone. A change that waits is then not made
 * @throws GatewayError gateway_not_ready if another change still runs at the end, and what `attempt` throws
 */
export async function repeatChange<T>(
  clock: Clock,
  attempt: () => Promise<T>,
  isConflictOf: (error: unknown) => boolean = () => false,
  signal?: AbortSignal,
): Promise<T> {
  const beganMs = clock.monotonicMs();
  const waitedMs = () => clock.monotonicMs() - beganMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isBusy = error instanceof LockBusyError;
      if (!isBusy && !isConflict(error) && !isConflictOf(error)) throw error;
      if (isBusy) await pause(clock, Math.max(TRY_EVERY_MS, waitedMs() / 10), signal);
      const isOver = waitedMs() >= CHANGE_WAIT_MS || signal?.aborted === true;
      if (isOver) throw isBusy ? stillRunning(error) : error;
    }
  }
}

function stillRunning(cause: LockBusyError): GatewayError {
  return new GatewayError(
    'gateway_not_ready',
    'Another change of the configuration is running. This one was not made.',
    { headers: { 'retry-after': '1' }, cause },
  );
}
