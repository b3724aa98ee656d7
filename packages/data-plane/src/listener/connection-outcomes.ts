import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionProgress } from '@gateway/http/http1/server/connection-progress';
import { CONNECTION_REFUSALS, type ConnectionRefusal } from '../limits/connection-limits.ts';

/** Why a connection ended without a response; a label of the metric. */
export const UNANSWERED_REASONS = [
  ...CONNECTION_REFUSALS,
  'tls_failed',
  'closed_before_request',
  'closed_in_head',
  'closed_in_request',
  'reset_before_request',
  'reset_in_head',
  'reset_in_request',
  'idle_timeout',
  'head_timeout',
  'drained',
  'http2_error',
  'internal_error',
  'aborted',
] as const;
export type UnansweredReason = (typeof UNANSWERED_REASONS)[number];

/** What ended a connection. */
export type EndCause = 'closed' | 'reset' | 'timed_out' | 'tls_failed' | 'http2_error';

/** Counts connections. Each is counted as accepted, and when it has closed as answered or as unanswered. */
export interface ConnectionCounts {
  /** A connection could not be accepted. It is not counted as accepted. */
  readonly notAccepted: () => void;
  readonly accepted: () => void;
  readonly answered: () => void;
  readonly unanswered: (reason: UnansweredReason) => void;
}

/** What becomes of one connection. */
export class ConnectionOutcome {
  /** undefined before the protocol of the connection is known. */
  progress: ConnectionProgress | undefined = undefined;
  readonly #socket: Socket;
  #cause: EndCause | 'internal_error' | undefined = undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get isAnswered(): boolean {
    return this.progress?.isAnswered === true;
  }

  /** Notes what ended the connection; the first cause stays. */
  ended(cause: EndCause | 'internal_error'): void {
    this.#cause ??= cause;
  }

  /** Notes how the caller ends the connection that was accepted, or the TLS connection on it. */
  watch(socket: Socket): void {
    socket.on('end', () => {
      this.ended('closed');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.ended(error.code?.startsWith('ERR_SSL') === true ? 'tls_failed' : 'reset');
    });
  }

  /** The TLS handshake failed. A caller that sent nothing has only left, or waited. */
  handshakeFailed({ code, syscall }: NodeJS.ErrnoException): void {
    if (this.#socket.bytesRead > 0) this.ended('tls_failed');
    else if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') this.ended('timed_out');
    else this.ended(syscall === 'read' ? 'reset' : 'closed');
  }

  /** node:tls reports a caller that leaves within the handshake only after the connection has closed. */
  #unfinishedHandshake(): UnansweredReason {
    return this.#socket.bytesRead > 0 ? 'tls_failed' : 'closed_before_request';
  }

  /**
   * Why the connection, which has closed, got no response.
   *
   * @param draining whether the gateway closes connections because it stops
   */
  unansweredReason(draining: boolean): UnansweredReason {
    if (this.progress?.guard.hasFailed === true) return 'internal_error';
    const stage = this.progress?.stage ?? 'accepted';
    const cause = this.#cause;
    if (cause === undefined) {
      if (draining) return 'drained';
      return this.progress === undefined ? this.#unfinishedHandshake() : 'aborted';
    }
    if (cause === 'timed_out') return stage === 'head' ? 'head_timeout' : 'idle_timeout';
    if (cause !== 'closed' && cause !== 'reset') return cause;
    return `${cause}_${WHEN[stage]}`;
  }
}

const WHEN = { accepted: 'before_request', head: 'in_head', request: 'in_request' } as const;

/** A TLS socket on an accepted one, which is not documented by node:tls. */
interface WithParent {
  readonly _parent?: Socket;
}

/**
 * The outcomes of the connections of a server. At every moment, the accepted connections are those that are open, the
 * answered and the unanswered ones.
 */
export class ConnectionOutcomes {
  /** Whether the gateway closes connections because it stops. */
  isDraining = false;
  readonly #counts: ConnectionCounts;

  constructor(counts: ConnectionCounts) {
    this.#counts = counts;
  }

  /** A connection above a limit was refused. */
  refused(reason: ConnectionRefusal): void {
    this.#counts.accepted();
    this.#counts.unanswered(reason);
  }

  /** A connection within the limits was accepted. It is counted when it closes. */
  accepted(socket: Socket): ConnectionOutcome {
    this.#counts.accepted();
    const outcome = new ConnectionOutcome(socket);
    socket.on('close', () => {
      if (outcome.isAnswered) this.#counts.answered();
      else this.#counts.unanswered(outcome.unansweredReason(this.isDraining));
    });
    return outcome;
  }
}

/** The outcomes of open connections, found by the TLS sockets on them. */
export class TlsOutcomes {
  readonly #open = new WeakMap<Socket, ConnectionOutcome>();

  add(accepted: Socket, outcome: ConnectionOutcome): void {
    this.#open.set(accepted, outcome);
    accepted.on('close', () => this.#open.delete(accepted));
  }

  of(socket: TLSSocket): ConnectionOutcome {
    const accepted = (socket as WithParent)._parent;
    const outcome = accepted === undefined ? undefined : this.#open.get(accepted);
    return outcome ?? new ConnectionOutcome(socket);
  }
}
