import type { Clock } from '@gateway/shared/clock';
import type { CallerRequest } from './caller.ts';
import type { RequestContext } from './context.ts';
import type { InFlight } from './in-flight.ts';

export interface RequestEndOptions {
  readonly clock: Clock;
  /** How long to read and drop the rest of an unwanted request body, so that its connection stays usable. */
  readonly lingerTimeoutMs: number;
  /** Called when the caller has not sent the rest by then, so that its connection is cut. */
  readonly cut: () => void;
}

/**
 * Call it when nothing more is sent for a request. The rest of the request body is read and dropped for a bounded time.
 * Then the connection is closed, so that a caller cannot hold it open by sending without end.
 */
export function dropRestOfBody(request: CallerRequest, options: RequestEndOptions): void {
  const { socket } = request;
  if (request.complete || socket.destroyed) return;
  const timer = options.clock.setTimer(options.lingerTimeoutMs, () => {
    options.cut();
    socket.destroy();
  });
  const cancel = () => {
    timer.cancel();
    socket.off('close', cancel);
    request.off('end', cancel);
  };
  socket.once('close', cancel);
  request.once('end', cancel);
  request.dropRest();
}

/**
 * Call it when a request is over, however it ended. What the request holds is given back, and its end is reported,
 * whatever throws.
 */
export function finishRequest(
  ctx: RequestContext,
  inFlight: InFlight,
  finished: (ctx: RequestContext) => void,
): void {
  inFlight.leave();
  try {
    ctx.finish();
  } finally {
    finished(ctx);
  }
}
