import type { BodySource, ExchangeFailure } from '@gateway/http/exchange';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { BodyBytes } from '@gateway/http/message/body-bytes';
import type { HintReceiver } from '@gateway/http/message/response-head';

/** A response of an upstream, as its receiver controls it. */
export interface UpstreamResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value, as the upstream sent them, until the forwarding replaces them; each character is one byte. */
  fields: readonly string[];
  /** The receiver takes no more for now. */
  pause(): void;
  /** The receiver takes more. */
  resume(): void;
  /** After a 101: sends these bytes of the new protocol to the upstream. What it sends is the body. */
  sendBytes(source: BodySource): void;
  /** The rest is unwanted: its receiver gets no more calls. Closes its connection, unless all of it has arrived. */
  cancel(): void;
}

/** Why a response has no end. `silent`: the upstream sent nothing for too long. */
export type BreakReason = ExchangeFailure | 'silent';

/** Receives the body of a response as it arrives. */
export interface ResponseSink {
  /**
   * A part of the body; a buffer is valid until the call returns. With `last` it may be empty.
   *
   * @param trailers the fields after it, as the upstream sent them, if there are any; only with `last`
   */
  data(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void;
  /** All that has arrived with the head was passed on, and more will follow. Called once, and not if `last` was. */
  delivered(): void;
  /** It has not resumed for as long as a body may make no progress. It cancels the response, or resumes. */
  stalled(): void;
  /** The upstream broke off: the body so far is incomplete. */
  broken(why: BreakReason): void;
}

/** Receives what becomes of a request that is forwarded. After any hints, `responded` or `failed` is called, once. Neither throws. */
export interface ResponseReceiver extends HintReceiver {
  /**
   * The head of the response.
   *
   * @param last whether it has no body
   * @returns what receives the body; undefined: nobody wants it
   */
  responded(response: UpstreamResponse, last: boolean): ResponseSink | undefined;
  /** There is no response, for this reason. */
  failed(error: unknown): void;
  /** The time that the caller gave is over. The receiver ends the response, or these attempts if it has not begun. */
  expired(attempts: { cancel(): void }): void;
}
