import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { CallerResponse } from './caller.ts';
import type { UpstreamResponse } from './upstream-response.ts';

/** The target of a body: a response, or an upgraded connection. */
export type BodyTarget = Pick<CallerResponse, 'write' | 'flushHeaders' | 'destroy'> & {
  end(chunk?: BodyBytes, encoding?: 'latin1'): unknown;
  once(event: 'drain', listener: () => void): unknown;
};

export interface PipeEvents {
  sent(bytes: number): void;
  /** The target takes no more for now, or takes more again. */
  blocked(isBlocked: boolean): void;
  /** The upstream has finished; `complete` says whether the whole body arrived. */
  ended(complete: boolean): void;
}

/**
 * Sends the body of an upstream's response after its head. A body that has fully arrived is written
 * together with the head; a longer one streams with back-pressure. If the upstream breaks off, the
 * caller's connection is closed, so that the body cannot look complete (RFC 9112 section 8). A caller
 * that does not read gets no more of it.
 */
export function pipeResponse(
  upstream: UpstreamResponse,
  response: BodyTarget,
  events: PipeEvents,
): void {
  let waitsForDrain = false;
  const whole = upstream.attach({
    data(chunk) {
      events.sent(chunk.length);
      if (response.write(chunk, 'latin1')) return true;
      if (!waitsForDrain) {
        waitsForDrain = true;
        events.blocked(true);
        response.once('drain', () => {
          waitsForDrain = false;
          events.blocked(false);
          upstream.resume();
        });
      }
      return false;
    },
    end() {
      events.ended(true);
      response.end();
    },
    // Its end cancels the response, as that of a caller that leaves does.
    stalled() {
      response.destroy('timed_out');
    },
    error() {
      try {
        events.ended(false);
      } finally {
        response.destroy();
      }
    },
  });
  if (whole === undefined) {
    response.flushHeaders();
    return;
  }
  events.ended(true);
  const last = whole.chunks.length - 1;
  whole.chunks.forEach((chunk, index) => {
    events.sent(chunk.length);
    if (index === last) response.end(chunk, 'latin1');
    else response.write(chunk, 'latin1');
  });
  if (last === -1) response.end();
}
