import { HEAD_LIMITS } from '../../http1/client/connection.ts';
import { Decoder } from '../hpack/decoder.ts';
import type { Bodies } from '../bodies.ts';
import type { FieldLimits } from '../field-limits.ts';
import { READ_PER_ALLOWED, type BlockHandler } from '../header-blocks.ts';
import { ERROR } from '../protocol.ts';
import { afterEvent, EVENT, STATE, type StreamState } from '../stream-state.ts';
import { opensTunnel, switchingHead } from './extended-connect.ts';
import { ResponseReader } from './response-reader.ts';
import type { ClientSession } from './session.ts';
import type { Http2ClientStream } from './stream.ts';

const MAX_INTERIM_RESPONSES = 100;
/** As over HTTP/1.1. */
export const FIELD_LIMITS: FieldLimits = {
  maxHeaderBytes: HEAD_LIMITS.maxHeaderBytes,
  maxFields: HEAD_LIMITS.maxHeaderLines,
};

/** Makes heads of responses, and their trailers, of header blocks. */
export class Responses {
  readonly #session: ClientSession;
  readonly #bodies: Bodies;
  readonly #decoder: Decoder;
  readonly #reader: ResponseReader;
  /** Streams whose heads were passed on in this read. */
  #begun: Http2ClientStream[] = [];

  constructor(session: ClientSession, bodies: Bodies) {
    this.#session = session;
    this.#bodies = bodies;
    const { limits, lastFields } = session;
    this.#decoder = new Decoder({
      maxListBytes: limits.maxHeaderBytes * READ_PER_ALLOWED,
      maxFields: limits.maxFields * READ_PER_ALLOWED,
    });
    this.#reader = new ResponseReader(limits, lastFields);
  }

  /** A whole header block: it is always decoded, because the table of the connection depends on it. */
  readonly block: BlockHandler = (id, endsStream, dependsOnItself, block, start, end) => {
    const session = this.#session;
    const reader = this.#reader;
    const state = session.streams.stateOf(id);
    // A server opens no streams.
    if (state === STATE.idle) return ERROR.protocolError;
    const stream = session.streams.open.get(id) as Http2ClientStream | undefined;
    reader.start(stream?.hasHead === true);
    const error = this.#decoder.decode(block, start, end, reader);
    if (error === ERROR.enhanceYourCalm) {
      session.fail(error, 'HTTP2_FLOOD');
      return ERROR.noError;
    }
    if (error !== ERROR.noError) return error;
    const outcome = session.refuseEvent(id, state, EVENT.receiveHeaders);
    if (outcome !== undefined || stream === undefined) return outcome ?? ERROR.internalError;
    if (reader.isMalformed || dependsOnItself) this.#malformed(stream);
    else if (reader.isTooLarge) session.fieldsTooLarge(stream);
    else if (stream.hasHead) this.#trailers(stream, endsStream);
    else if (reader.status < 200) this.#interim(stream, endsStream);
    else this.#head(stream, endsStream);
    return ERROR.noError;
  };

  #malformed(stream: Http2ClientStream): void {
    this.#session.reset(stream, ERROR.protocolError, 'malformed');
  }

  /** RFC 9113 section 8.1: a second block is the trailers, which end the stream. */
  #trailers(stream: Http2ClientStream, endsStream: boolean): void {
    // A tunnel has none (section 8.5).
    if (!endsStream || stream.isTunnel) {
      this.#malformed(stream);
      return;
    }
    const { fields } = this.#reader;
    this.#bodies.endOfStream(stream, fields.length > 0 ? fields : undefined);
  }

  /** RFC 9113 section 8.6: there is no 101. */
  #interim(stream: Http2ClientStream, endsStream: boolean): void {
    const { status, fields } = this.#reader;
    stream.interimResponses += 1;
    const areTooMany = stream.interimResponses > MAX_INTERIM_RESPONSES;
    if (endsStream || status === 101 || areTooMany) this.#malformed(stream);
    else if (status === 103) stream.hint(fields);
  }

  #head(stream: Http2ClientStream, endsStream: boolean): void {
    const session = this.#session;
    const { status, contentLength } = this.#reader;
    if (stream.connect !== undefined && opensTunnel(status)) {
      this.#tunnel(stream, stream.connect.key, endsStream);
      return;
    }
    const isBodiless = stream.isHead || status === 204 || status === 304;
    const length = isBodiless ? 0 : contentLength;
    if (endsStream && length !== undefined && length > 0) {
      this.#malformed(stream);
      return;
    }
    const head = this.#reader.head(!endsStream && !isBodiless);
    if (endsStream) {
      stream.state = afterEvent(stream.state, EVENT.receiveEnd) as StreamState;
      stream.head(head, true);
      session.received(stream);
      return;
    }
    stream.missingBytes = length;
    session.flow.open(stream);
    this.#begun.push(stream);
    stream.head(head, false);
  }

  /** A length means nothing here, nor does the status that a 2xx is (RFC 9110 section 9.3.6). */
  #tunnel(stream: Http2ClientStream, key: string | undefined, endsStream: boolean): void {
    stream.isTunnel = true;
    this.#session.flow.open(stream);
    this.#begun.push(stream);
    stream.head(switchingHead(this.#reader.head(true), key), false);
    if (endsStream) this.#bodies.endOfStream(stream);
  }

  /** All frames of a read were handled, and their bytes passed on. */
  endOfRead(): void {
    if (this.#begun.length === 0) return;
    const begun = this.#begun;
    this.#begun = [];
    for (const stream of begun) stream.delivered();
  }
}
