import type { ReportInternalError } from '../../connection-guard.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import { MALFORMED_REASONS, type HeadLimits } from '../../message/message-reader.ts';
import type { RequestHead } from '../../message/request-head.ts';
import type { LingerOptions } from './linger.ts';
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

/** A request that has taken over its connection. */
export type UpgradedExchange = Http1Exchange;

export interface ServerOptions extends HeadLimits, LingerOptions {
  readonly onExchange: (exchange: Http1Exchange) => void;
  /** Whether a request takes over its connection, and so has no HTTP response from the engine. */
  readonly takesOver: (head: RequestHead) => boolean;
  /** `ahead`: the bytes after the request. The socket is paused and has no listeners for its bytes. */
  readonly onTakeOver: (exchange: UpgradedExchange, ahead: Buffer) => void;
  /** Called with an exception in the handling of a connection, which ends with it; once for a connection. */
  readonly internalError: ReportInternalError;
  /** Called for every refusal. */
  readonly refused: (reason: RefusalReason) => void;
  /** Returns the response to a caller at this address. */
  readonly refusal: (reason: RefusalReason, address: string) => Refusal;
}
