import type { Socket } from 'node:net';
import type { Assignment } from './messages.ts';

/** Why a connection was closed before a worker accepted it. */
export type UnassignedReason = 'worker_ended' | 'no_open_files' | 'too_many_waiting' | 'stopping';

/** A worker, as the assigner sees it. */
export interface ConnectionWorker {
  /** Passes a connection to the worker; `ended` if the worker ends before it answers. Never rejects. */
  assign(socket: Socket): Promise<Assignment | 'ended'>;
}

interface AssignableWorker {
  readonly worker: ConnectionWorker;
  /** The worker has not answered for the last connection yet. */
  busy: boolean;
}

/**
 * Assigns the connections of a group to its workers in turn.
 *
 * A worker gets one connection at a time and the next one when it has answered, so a worker that hangs receives one
 * connection at most. A connection that a worker declines goes to another one. If a worker ends, or has no free file
 * descriptor to receive the connection with, the connection is closed: the worker may have read from it, and a worker
 * without file descriptors would be offered the same connection again and again.
 */
export class ConnectionAssigner {
  /** The worker that was assigned a connection the longest ago comes first. */
  #places: readonly AssignableWorker[] = [];
  readonly #waiting: Socket[] = [];
  readonly #maxWaiting: number;
  readonly #unassigned: (why: UnassignedReason) => void;
  #stopped = false;
  #assigned: PromiseWithResolvers<undefined> | undefined;

  /**
   * @param maxWaiting how many connections may wait for a worker at one time
   * @param unassigned is called for each connection that is closed without a worker
   */
  constructor(maxWaiting: number, unassigned: (why: UnassignedReason) => void) {
    this.#maxWaiting = maxWaiting;
    this.#unassigned = unassigned;
  }

  /** Adds a worker that accepts connections. */
  add(worker: ConnectionWorker): void {
    this.#places = [...this.#places, { worker, busy: false }];
    this.#assignWaiting();
  }

  /** Removes a worker that is leaving or has ended. */
  remove(worker: ConnectionWorker): void {
    this.#places = this.#places.filter((place) => place.worker !== worker);
  }

  /** Assigns a new connection, or keeps it until a worker is free. Closes it if too many wait already. */
  accept(socket: Socket): void {
    if (this.#stopped) {
      this.#close(socket, 'stopping');
      return;
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      this.#close(socket, 'too_many_waiting');
      return;
    }
    // Nothing reads from it here, so an error can only come from a write error of the kernel; the worker sees it.
    socket.on('error', () => undefined);
    this.#waiting.push(socket);
    this.#assignWaiting();
  }

  /** Resolves when no connection waits for a worker or for the answer of one. */
  allAssigned(): Promise<undefined> {
    const { promise } = (this.#assigned ??= Promise.withResolvers<undefined>());
    this.#resolveAssigned();
    return promise;
  }

  /** Closes the connections that wait for a worker, and from now on those that a worker declines. */
  stop(): void {
    this.#stopped = true;
    for (const socket of this.#waiting.splice(0)) this.#close(socket, 'stopping');
  }

  #assignWaiting(): void {
    while (this.#waiting.length > 0) {
      const place = this.#places.find(({ busy }) => !busy);
      if (place === undefined) return;
      const socket = this.#waiting.shift();
      if (socket === undefined || socket.destroyed) continue;
      this.#places = [...this.#places.filter((one) => one !== place), place];
      place.busy = true;
      void place.worker.assign(socket).then((result) => {
        place.busy = false;
        this.#settle(place.worker, socket, result);
        this.#assignWaiting();
        this.#resolveAssigned();
      });
    }
  }

  #resolveAssigned(): void {
    if (this.#waiting.length > 0 || this.#places.some(({ busy }) => busy)) return;
    this.#assigned?.resolve(undefined);
    this.#assigned = undefined;
  }

  #settle(worker: ConnectionWorker, socket: Socket, result: Assignment | 'ended'): void {
    if (result === 'accepted') {
      // Closes the descriptor of this process alone; the worker has its own.
      socket.destroy();
    } else if (result === 'declined') {
      this.remove(worker);
      if (this.#stopped) this.#close(socket, 'stopping');
      else this.#waiting.unshift(socket);
    } else {
      this.#close(socket, result === 'ended' ? 'worker_ended' : 'no_open_files');
    }
  }

  #close(socket: Socket, why: UnassignedReason): void {
    this.#unassigned(why);
    socket.destroy();
  }
}
