import type { RequestHead } from '../../message/request-head.ts';
import type { ReportInternalError } from '../../connection-guard.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { MALFORMED_REASONS, type MessageSyntax } from '../../message/message-reader.ts';
import type { HeadLimits } from '../../message/trailer-section.ts';
import type { Clock } from '../../clock.ts';
import type { Http1Exchange } from './exchange.ts';

/** Why a request was refused before it had a response. */
export const REFUSAL_REASONS = [...MALFORMED_REASONS, 'slow_head'] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** The response to bytes that are not a request. The connection ends after it. */
export interface Refusal {
  readonly status: number;
  readonly fields: HeaderFields;
  /** Each character is one byte. */
  readonly body: string;
}

export interface ServerOptions extends HeadLimits {
  readonly clock: Clock;
  /** How long the rest of an unwanted body, and a closing connection, are still read, ms. */
  readonly lingerTimeoutMs: number;
  /** Called when a caller that went on sending has not stopped by then, so that its connection is cut. */
  readonly cut: () => void;
  readonly onExchange: (exchange: Http1Exchange) => void;
  /** Called with an exception in the handling of a connection, which ends with it; once for a connection. */
  readonly internalError: ReportInternalError;
  /** Called for every refusal. */
  readonly refused: (reason: RefusalReason) => void;
  /** Returns the response to a caller at this address. */
  readonly refusal: (reason: RefusalReason, address: string) => Refusal;
}

/** What the connections of a server share. */
export interface ServerState {
  readonly syntax: MessageSyntax<RequestHead>;
  /** The value of `Date`. */
  readonly date: () => string;
}
