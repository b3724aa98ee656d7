import type { Clock } from '@gateway/shared/clock';
import type { CallerRequest, CallerResponse } from './caller.ts';

export interface LingerOptions {
  readonly clock: Clock;
  /** How long the rest of a body is read that nobody wants any more, so that its connection goes on. */
  readonly lingerTimeoutMs: number;
}

/**
 * Calls back once, when nothing more goes out for the request; `complete` tells whether all of the
 * response did. What is left of the request's body is read and dropped for a bounded time, after
 * which the connection is cut: a caller must not hold it by sending on and on.
 */
export function whenOver(
  request: CallerRequest,
  response: CallerResponse,
  options: LingerOptions,
  over: (complete: boolean) => void,
): void {
  response.once('close', () => {
    over(response.writableFinished);
    if (!request.complete) linger(request, options);
  });
}

function linger(request: CallerRequest, options: LingerOptions): void {
  const { socket } = request;
  if (socket.destroyed) return;
  const timer = options.clock.setTimer(options.lingerTimeoutMs, () => socket.destroy());
  const cancel = () => {
    timer.cancel();
    socket.off('close', cancel);
    request.off('end', cancel);
  };
  socket.once('close', cancel);
  request.once('end', cancel);
  request.dropRest();
}
