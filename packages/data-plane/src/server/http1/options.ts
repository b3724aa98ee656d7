import type { Clock } from '@gateway/shared/clock';
import type { CallerRequest, CallerResponse } from '../../pipeline/caller.ts';
import type { HeadLimits, MalformedReason } from './message-reader.ts';
import type { RequestHead } from './request-head.ts';

export interface Http1Options extends HeadLimits {
  readonly clock: Clock;
  /** How long a connection is read on that is about to end. */
  readonly lingerTimeoutMs: number;
  /** The value of `Date` for now. */
  readonly date: () => string;
  readonly onRequest: (request: CallerRequest, response: CallerResponse) => void;
  /** Whether a request takes its connection over, and has no response of HTTP. */
  readonly takesOver: (head: RequestHead) => boolean;
  /** `ahead`: what came after the request. The socket is paused, and nobody else listens to it. */
  readonly onTakeOver: (request: CallerRequest, ahead: Buffer) => void;
  /** Gives the whole of the answer to what is no HTTP. */
  readonly malformed: (reason: MalformedReason, address: string) => string;
}
