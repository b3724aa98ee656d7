import type { Clock } from '@gateway/shared/clock';
import type { RequestContext } from '../request/context.ts';
import type { ResponseReceiver } from '../request/upstream-response.ts';

/**
 * Ends a gRPC call when the time of its caller is over. That is the deadline of the whole call, not only of the head of its
 * response, and nothing that the call waits for moves it.
 *
 * @param ctx its caller has a deadline
 * @param attempts ends the attempt in progress, if there is one
 */
export function endAtCallerDeadline(
  ctx: RequestContext,
  receiver: ResponseReceiver,
  clock: Clock,
  attempts: { cancel(): void },
): void {
  const leftMs = Math.max(0, ctx.callerDeadlineMs - clock.monotonicMs());
  const timer = clock.setTimer(leftMs, () => {
    receiver.expired(attempts);
  });
  ctx.onFinish(() => {
    timer.cancel();
  });
}
