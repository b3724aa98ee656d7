import type { Socket } from 'node:net';
import { ChurningSet, type Member } from '../churning-set.ts';
import type { Clock } from '../clock.ts';
import { toStayValid, type TakeBytes } from '../message/read-buffer.ts';
import type { ReadSocket } from '../sockets/read-socket.ts';
import { PREFACE } from './protocol.ts';

interface Choice {
  readonly http1: (socket: ReadSocket) => void;
  readonly http2: (socket: ReadSocket) => void;
}

interface Undecided extends Member {
  readonly socket: Socket;
}

/**
 * Serves connections without TLS with the version of HTTP that their first bytes are of: those of a client that knows that
 * this is an HTTP/2 server (RFC 9113 section 3.3), or anything else. No request of HTTP/1.1 starts like the preface.
 */
export class PriorKnowledge {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #undecided = new ChurningSet<Undecided>();

  /** @param timeoutMs how long the first bytes may take. After it a connection is one of HTTP/1.1, with its time-outs */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Serves a connection when its version is known. */
  choose(read: ReadSocket, { http1, http2 }: Choice): void {
    let first: Buffer = Buffer.alloc(0);
    const undecided = { place: 0, socket: read.socket };
    this.#undecided.add(undecided);
    const decided = () => {
      timer.cancel();
      read.socket.off('close', decided);
      this.#undecided.remove(undecided);
    };
    const serve = (engine: (socket: ReadSocket) => void) => {
      decided();
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
    };
    const timer = this.#clock.setTimer(this.#timeoutMs, () => {
      serve(http1);
    });
    read.socket.on('close', decided);
    read.readBy((bytes) => {
      first = first.length === 0 ? bytes : Buffer.concat([first, bytes]);
      const count = Math.min(first.length, PREFACE.length);
      if (PREFACE.compare(first, 0, count, 0, count) !== 0) serve(http1);
      else if (count === PREFACE.length) serve(http2);
      // It is kept until more arrives.
      else first = toStayValid(first);
    });
  }

  /** Closes the connections whose version is not known, because the server stops. None of them has a request. */
  close(): void {
    for (const { socket } of this.#undecided.all()) socket.destroy();
  }
}
