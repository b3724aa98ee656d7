import type { EventEmitter } from 'node:events';

/** The request in whose handling an error occurred. */
export interface FailedRequest {
  readonly id: string;
  readonly trace: { readonly traceId: string };
}

/** Takes an internal error, and the request if it is known. */
export type ReportInternalError = (error: unknown, request?: FailedRequest) => void;

/** Why the gateway ends a connection, or a response, before the response is complete. */
export type EndReason = 'drained' | 'timed_out' | 'internal_error';

/**
 * Ends a connection in which an internal error occurs. Whatever a socket or a timer calls runs under the guard of its
 * connection, so that an exception there ends this connection, and never the process.
 */
export class ConnectionGuard {
  readonly #connection: { destroy(): unknown };
  readonly #report: ReportInternalError;
  #hasFailed = false;
  #endReason: EndReason | undefined = undefined;

  /** @param report called with the first internal error of the connection */
  constructor(connection: { destroy(): unknown }, report: ReportInternalError) {
    this.#connection = connection;
    this.#report = report;
  }

  /** Whether an internal error has ended the connection. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Why the gateway ended the connection: the first reason. undefined if the gateway did not end it within a response. */
  get endReason(): EndReason | undefined {
    return this.#endReason;
  }

  /** Ends the connection now. The responses that are not complete end for this reason. */
  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#connection.destroy();
  }

  /** Calls the function. */
  run(run: () => void, request?: FailedRequest): void {
    try {
      run();
    } catch (error) {
      this.fail(error, request);
    }
  }

  /**
   * Guards all listeners of an emitter, also those that others add. After an exception the other listeners of the event
   * are skipped; those of `close` all run, because they give back what the connection holds.
   */
  events(emitter: EventEmitter): void {
    const emit = emitter.emit.bind(emitter);
    emitter.emit = (event: string | symbol, ...values: unknown[]) => {
      try {
        if (event !== 'close') return emit(event, ...values);
      } catch (error) {
        this.fail(error);
        return true;
      }
      const listeners = emitter.rawListeners(event);
      for (const listener of listeners) {
        this.run(() => {
          Reflect.apply(listener, emitter, values);
        });
      }
      return listeners.length > 0;
    };
  }

  /** Ends the connection because of this error. */
  fail(error: unknown, request?: FailedRequest): void {
    const isFirst = !this.#hasFailed;
    this.#hasFailed = true;
    try {
      this.end('internal_error');
    } catch {
      // An error that follows from the first one.
    }
    if (isFirst) this.#report(error, request);
  }
}
