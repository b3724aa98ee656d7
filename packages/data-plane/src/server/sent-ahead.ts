import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pendingResponse } from './pending-response.ts';

/** What waits on one connection behind the response that it is being sent. */
interface Queue {
  waiting: number;
  /** Of those, the ones that may change something. */
  unsafe: number;
  last: ServerResponse | undefined;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Holds what a caller sends ahead to RFC 9112 section 9.3.2: requests run side by side only where all of
 * them are safe, so that none sees what is before or after it in part. And bounds how many may wait
 * behind another one: else a few connections could fill the process with requests, with no token and
 * without reading any answer.
 */
export class SentAhead {
  readonly #maxWaiting: number;
  readonly #queues = new WeakMap<Duplex, Queue>();

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Counts a request that waits until its response is over, and runs it: at once, or when the response
   * before its own is over. False where it is one too many.
   */
  enter(response: ServerResponse, run: () => void): boolean {
    const { req } = response;
    const { socket } = req;
    const queue = this.#queues.get(socket) ?? { waiting: 0, unsafe: 0, last: undefined };
    if (queue.waiting >= this.#maxWaiting) return false;
    const current = pendingResponse(socket);
    const before = queue.last ?? current;
    const mustWait = !isSafe(req) || queue.unsafe > 0 || (current && !isSafe(current.req));
    const unsafe = isSafe(req) ? 0 : 1;
    queue.waiting += 1;
    queue.unsafe += unsafe;
    queue.last = response;
    this.#queues.set(socket, queue);
    response.once('close', () => {
      queue.waiting -= 1;
      queue.unsafe -= unsafe;
      if (queue.waiting === 0) queue.last = undefined;
    });
    if (mustWait === true && before !== undefined) before.once('close', run);
    else run();
    return true;
  }
}

/** RFC 9110 section 9.2.1. */
function isSafe(request: IncomingMessage): boolean {
  return SAFE.has(request.method ?? '');
}

/** A caller sent more ahead than is taken; its connection is cut. */
export class SentAheadError extends Error {
  override readonly name = 'SentAheadError';
  readonly code = 'ERR_TOO_MANY_SENT_AHEAD';
}
