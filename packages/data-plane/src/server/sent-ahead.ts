import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Bounds how many requests of one connection may wait behind another one of it (RFC 9112 section
 * 9.3.2). Without a bound a few connections could fill the process with requests, with no token and
 * without reading any answer.
 */
export class SentAhead {
  readonly #maxWaiting: number;
  readonly #waiting = new WeakMap<Duplex, number>();

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Counts a request that waits until its response is over; false where it is one too many. */
  enter(socket: Duplex, response: ServerResponse): boolean {
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    if (waiting > this.#maxWaiting) return false;
    this.#waiting.set(socket, waiting);
    response.once('close', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
    });
    return true;
  }
}

/** A caller sent more ahead than is taken; its connection is cut. */
export class SentAheadError extends Error {
  override readonly name = 'SentAheadError';
  readonly code = 'ERR_TOO_MANY_SENT_AHEAD';
}
