import type { ClientConnection } from '@gateway/http/exchange';
import { Http1ClientConnection } from '@gateway/http/http1/client/connection';
import type { Clock } from '@gateway/shared/clock';
import type { AttemptErrorName } from './attempt-end.ts';

/** An attempt that a pool gives a connection to. */
export interface PooledAttempt {
  /** Whether it still needs a response. */
  readonly wanted: boolean;
  /** Whether its request authenticates the connection that carries it. Then no other request may have that connection. */
  readonly authenticatesConnection: boolean;
  /**
   * It waits for a connection.
   *
   * @param forOthers whether it waits until others need theirs no more, because there may be no further one
   */
  waits(forOthers: boolean): void;
  /** Sends the request on this connection. Returns false if it must not be sent any more. */
  start(connection: ClientConnection): boolean;
  /** No connection could be opened; nothing was sent. */
  refused(name: AttemptErrorName): void;
}

/** What an attempt needs of those who made it; all attempts at one upstream share it. */
export interface AttemptOwner {
  readonly clock: Clock;
  /** How long a response body may be silent, unless the handler says so, or wait for its sink, ms. */
  readonly idleTimeoutMs: number;
  /** Called once when the attempt has ended, in whatever way; `started`: whether it had a connection. Throws nothing. */
  ended(attempt: PooledAttempt, started: boolean): void;
  /** An exception in an attempt that has no connection. */
  internalError(error: unknown): void;
}

/**
 * The start of an attempt has thrown. It ends, and so does a connection that was for it alone; other attempts on a shared
 * connection are not affected.
 */
export function failStart(
  attempt: PooledAttempt,
  connection: ClientConnection,
  error: unknown,
  report: (error: unknown) => void,
): void {
  const { guard } = connection;
  const fail = (thrown: unknown) => {
    if (connection instanceof Http1ClientConnection) guard.fail(thrown);
    else report(thrown);
  };
  fail(error);
  try {
    attempt.refused('internal_error');
  } catch (next) {
    fail(next);
  }
}
