import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Ends a connection in which an internal error occurs. Whatever a socket calls runs under the guard of its connection, so
 * that an exception there ends this connection, and never the process.
 */
export class ConnectionGuard {
  readonly #socket: Pick<Socket, 'destroy'>;
  readonly #report: (error: unknown) => void;
  #hasFailed = false;

  /** @param report called with the first internal error of the connection */
  constructor(socket: Pick<Socket, 'destroy'>, report: (error: unknown) => void) {
    this.#socket = socket;
    this.#report = report;
  }

  /** Calls the function. */
  run(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Returns a function that does the same and throws nothing. */
  wrap<Values extends unknown[]>(run: (...values: Values) => void): (...values: Values) => void {
    return (...values) => {
      this.run(() => {
        run(...values);
      });
    };
  }

  /** Guards all listeners of an emitter, also those that others add. After an exception the other listeners are skipped. */
  events(emitter: EventEmitter): void {
    const emit = emitter.emit.bind(emitter);
    emitter.emit = (event: string | symbol, ...values: unknown[]) => {
      try {
        return emit(event, ...values);
      } catch (error) {
        this.fail(error);
        return true;
      }
    };
  }

  /** Ends the connection because of this error. */
  fail(error: unknown): void {
    this.#socket.destroy();
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#report(error);
  }
}
