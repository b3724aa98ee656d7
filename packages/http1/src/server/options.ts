import type { ServerRequest } from './request.ts';
import type { ServerResponse } from './response.ts';
import type { LingerOptions } from './linger.ts';
import type { HeadLimits, MalformedReason } from '../message/message-reader.ts';
import type { RequestHead } from '../message/request-head.ts';

export interface Http1Options extends HeadLimits, LingerOptions {
  /** The value of `Date` for now. */
  readonly date: () => string;
  readonly onRequest: (request: ServerRequest, response: ServerResponse) => void;
  /** Whether a request takes its connection over, and has no response of HTTP. */
  readonly takesOver: (head: RequestHead) => boolean;
  /** `ahead`: what came after the request. The socket is paused, and nobody else listens to it. */
  readonly onTakeOver: (request: ServerRequest, ahead: Buffer) => void;
  /** Told of all that is refused. */
  readonly refused: (reason: MalformedReason) => void;
  /** Gives the whole of the answer to what is no request. */
  readonly malformed: (reason: MalformedReason, address: string) => string;
}
