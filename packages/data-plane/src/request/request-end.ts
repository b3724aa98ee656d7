import type { Clock } from '@gateway/shared/clock';
import type { CallerRequest, CallerResponse } from './caller.ts';

export interface RequestEndOptions {
  readonly clock: Clock;
  /** How long to read and drop the rest of an unwanted request body, so that its connection stays usable. */
  readonly lingerTimeoutMs: number;
}

/**
 * Calls `ended` once, when nothing more is sent for the request; `complete` says whether the whole
 * response was sent. The rest of the request body is read and dropped for a bounded time. Then the
 * connection is closed, so that a caller cannot hold it open by sending without end.
 */
export function onRequestEnd(
  request: CallerRequest,
  response: CallerResponse,
  options: RequestEndOptions,
  ended: (complete: boolean) => void,
): void {
  response.once('close', () => {
    ended(response.writableFinished);
    if (!request.complete) linger(request, options);
  });
}

function linger(request: CallerRequest, options: RequestEndOptions): void {
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
