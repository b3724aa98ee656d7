import type { Clock } from '../clock.ts';
import type { ReportInternalError } from '../connection-guard.ts';
import type { ServerExchange } from '../exchange.ts';
import type { Refusal } from '../http1/server/options.ts';
import type { SessionLimits } from './http2-session.ts';
import type { HeadRefusal } from './request-reader.ts';
import type { RequestTurns } from './request-turns.ts';
import type { WindowBudget } from './window-budget.ts';

/** A refusal without a body. */
export type BodilessRefusal = Omit<Refusal, 'body'>;

/** The limits of one connection. */
export interface ConnectionLimits extends SessionLimits {
  readonly maxConcurrentStreams: number;
  /** A response is cut if its caller takes less than `minSendBytesPerSecond` for so long. */
  readonly stalledTimeoutMs: number;
  readonly minSendBytesPerSecond: number;
}

export interface Http2Options {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  /** How much larger than at their start the windows of all connections may be together. */
  readonly maxWindowBytes: number;
  /**
   * Makes a `Sec-WebSocket-Key` (RFC 6455 section 4.1), which a request over HTTP/2 may lack. If it is set, WebSocket is
   * offered (RFC 8441).
   */
  readonly webSocketKey: (() => string) | undefined;
  /** Called for each request. It sets the handler of the exchange before it returns. */
  readonly onExchange: (exchange: ServerExchange) => void;
  /** Called with an exception in the handling of a connection, which ends with it. */
  readonly internalError: ReportInternalError;
  /** Called for every request that is refused before there is a handler for it. */
  readonly refused: (reason: HeadRefusal) => void;
  /** Returns the response to a caller at this address, whose request has this `Content-Type`. */
  readonly refusal: (reason: HeadRefusal, address: string, contentType?: string) => Refusal;
  /**
   * Returns the response to a request that is not handled because too many streams are open or the connection ends.
   * undefined: its stream is reset with REFUSED_STREAM.
   */
  readonly unhandled: (
    address: string,
    contentType: string | undefined,
  ) => BodilessRefusal | undefined;
}

/** What the connections of a server share. */
export interface ServerState {
  readonly budget: WindowBudget;
  readonly requestTurns: RequestTurns;
  /** The value of `Date`. */
  readonly date: () => string;
}
