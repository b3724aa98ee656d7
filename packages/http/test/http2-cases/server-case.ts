import { ERROR } from '../../src/http2/protocol.ts';
import type { ExchangeFailure } from '../../src/exchange.ts';

/**
 * What a client must do. `goAway`: the connection ends with this code. `reset`: stream 1 is reset with this code, and other
 * streams go on. `failure`: how the request ends, `complete` if it does. `goAway` and `failure` alone: no frame is sent.
 */
interface Expected {
  readonly goAway?: number;
  readonly reset?: number;
  readonly end: 'complete' | ExchangeFailure;
}

/** A section of RFC 9113, what the server sends after a request, and what must follow. */
export type ServerCase = readonly [
  section: string,
  name: string,
  frames: readonly Buffer[],
  Expected,
];

const goAway = (code: number): Expected => ({ goAway: code, end: 'invalid_response' });
export const PROTOCOL = goAway(ERROR.protocolError);
export const SIZE = goAway(ERROR.frameSizeError);
export const FLOW = goAway(ERROR.flowControlError);
export const COMPRESSION = goAway(ERROR.compressionError);
export const MALFORMED: Expected = { reset: ERROR.protocolError, end: 'invalid_response' };
export const COMPLETE: Expected = { end: 'complete' };
