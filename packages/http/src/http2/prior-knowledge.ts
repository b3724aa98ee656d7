import type { Clock } from '../clock.ts';
import { toStayValid, type TakeBytes } from '../message/read-buffer.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { PREFACE } from './protocol.ts';

interface Choice {
  readonly http1: (socket: ReadSocket) => void;
  readonly http2: (socket: ReadSocket) => void;
  readonly clock: Clock;
  /** How long the first bytes may take. After it the connection is one of HTTP/1.1, with the time-outs of that. */
  readonly timeoutMs: number;
}

/**
 * Serves a connection without TLS with the version of HTTP that its first bytes are of: those of a client that knows that
 * this is an HTTP/2 server (RFC 9113 section 3.3), or anything else. No request of HTTP/1.1 starts like the preface.
 */
export function chooseByPreface(read: ReadSocket, choice: Choice): void {
  let first: Buffer = Buffer.alloc(0);
  const timer = choice.clock.setTimer(choice.timeoutMs, () => {
    serve(choice.http1);
  });
  read.socket.once('close', () => {
    timer.cancel();
  });
  read.readBy((bytes) => {
    first = first.length === 0 ? bytes : Buffer.concat([first, bytes]);
    const count = Math.min(first.length, PREFACE.length);
    if (PREFACE.compare(first, 0, count, 0, count) !== 0) serve(choice.http1);
    else if (count === PREFACE.length) serve(choice.http2);
    // It is kept until more arrives.
    else first = toStayValid(first);
  });

  function serve(engine: (socket: ReadSocket) => void): void {
    timer.cancel();
    let take: TakeBytes | undefined;
    engine({
      socket: read.socket,
      address: read.address,
      readBy(next) {
        take = next;
        read.readBy(next);
      },
    });
    if (first.length > 0) take?.(first);
  }
}
