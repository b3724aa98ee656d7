import type { Writable } from 'node:stream';
import type { BodyBytes } from '@gateway/http1/message/body-bytes';

/** A response whose head has arrived. The owner must attach a sink to its body, or cancel it. */
export interface UpstreamResponse {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value, as the upstream sent them; each character is one byte. */
  readonly fields: readonly string[];
  /** After a 101: takes the bytes for the upstream. What the upstream sends is the body. undefined otherwise. */
  readonly upgraded?: Writable | undefined;
  /** Returns the whole body if all of it has arrived; otherwise the sink receives it. */
  attach(sink: BodySink): WholeBody | undefined;
  /** Reads on after `BodySink.data` returned false. */
  resume(): void;
  /** Discards the body and closes its connection, unless all of it has arrived. */
  cancel(): void;
}

/** Receives the body of a response as it arrives. */
export interface BodySink {
  /**
   * A part of the body; a buffer is valid until the call returns. Returns false to pause the body until `resume` of the
   * response is called.
   */
  data(chunk: BodyBytes): boolean;
  end(): void;
  /** It has not asked for more for as long as a body may make no progress. It cancels the response, or reads on. */
  stalled(): void;
  /** The upstream broke off: the body so far is incomplete. */
  error(error: Error): void;
}

/** A body that had arrived in full when a sink was attached. Its buffers are valid until the next read. */
export interface WholeBody {
  readonly chunks: readonly BodyBytes[];
}
