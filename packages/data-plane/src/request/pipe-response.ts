import type { End } from '@gateway/http1/exchange';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';
import type { UpstreamResponse } from './upstream-response.ts';

/** The target of a body: a response, or an upgraded connection. */
export interface BodyTarget {
  send(bytes: BodyBytes, last: boolean): boolean;
  flush(): void;
  abort(end: Exclude<End, 'complete'>): void;
}

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
 *
 * @returns what to call when the target takes more
 */
export function pipeResponse(
  upstream: UpstreamResponse,
  target: BodyTarget,
  events: PipeEvents,
): () => void {
  let isBlocked = false;
  const writable = () => {
    if (!isBlocked) return;
    isBlocked = false;
    events.blocked(false);
    upstream.resume();
  };
  const whole = upstream.attach({
    data(chunk) {
      events.sent(chunk.length);
      if (target.send(chunk, false)) return true;
      if (!isBlocked) {
        isBlocked = true;
        events.blocked(true);
      }
      return false;
    },
    end() {
      events.ended(true);
      target.send('', true);
    },
    // Its end cancels the response, as that of a caller that leaves does.
    stalled() {
      target.abort('timed_out');
    },
    error() {
      try {
        events.ended(false);
      } finally {
        target.abort('cut_short');
      }
    },
  });
  if (whole === undefined) {
    target.flush();
    return writable;
  }
  events.ended(true);
  const last = whole.chunks.length - 1;
  whole.chunks.forEach((chunk, index) => {
    events.sent(chunk.length);
    target.send(chunk, index === last);
  });
  if (last === -1) target.send('', true);
  return writable;
}
