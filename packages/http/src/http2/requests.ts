import type { Bodies } from './bodies.ts';
import { READ_PER_ALLOWED, type BlockHandler } from './header-blocks.ts';
import { Decoder } from './hpack/decoder.ts';
import { ERROR } from './protocol.ts';
import { RequestReader, type HeadRefusal } from './request-reader.ts';
import type { Session } from './session.ts';
import { EVENT, STATE } from './stream-state.ts';
import { Stream } from './stream.ts';

/** Makes requests, and the trailers of requests, of header blocks. */
export class Requests {
  readonly #session: Session;
  readonly #bodies: Bodies;
  readonly #decoder: Decoder;
  readonly #request: RequestReader;

  constructor(session: Session, bodies: Bodies) {
    this.#session = session;
    this.#bodies = bodies;
    const { limits, webSocketKey } = session.options;
    this.#decoder = new Decoder({
      maxListBytes: limits.maxHeaderBytes * READ_PER_ALLOWED,
      maxFields: limits.maxFields * READ_PER_ALLOWED,
    });
    this.#request = new RequestReader(limits, webSocketKey, session.lastFields);
  }

  /** A whole header block: it is always decoded, because the table of the connection depends on it. */
  readonly block: BlockHandler = (id, endsStream, dependsOnItself, block, start, end) => {
    const session = this.#session;
    const state = session.streams.stateOf(id);
    if (state === STATE.idle && (id & 1) === 0) return ERROR.protocolError;
    this.#request.start(state !== STATE.idle);
    const error = this.#decoder.decode(block, start, end, this.#request);
    if (error === ERROR.enhanceYourCalm) {
      session.fail(error, 'HTTP2_FLOOD');
      return ERROR.noError;
    }
    if (error !== ERROR.noError) return error;
    if (state === STATE.idle) {
      this.#open(id, endsStream, dependsOnItself);
      return ERROR.noError;
    }
    const outcome = session.refuseEvent(id, state, EVENT.receiveHeaders);
    if (outcome !== undefined) return outcome;
    const stream = session.streams.open.get(id);
    if (stream === undefined) return ERROR.internalError;
    // RFC 9113 section 8.1: a second block is the trailers, which end the stream.
    const isRefused = this.#request.isMalformed || this.#request.isTooLarge;
    if (!endsStream || isRefused || dependsOnItself) {
      session.reset(stream, ERROR.protocolError, 'malformed');
      return ERROR.noError;
    }
    const { trailers } = this.#request;
    this.#bodies.endOfStream(stream, trailers.length > 0 ? trailers : undefined);
    return ERROR.noError;
  };

  /** A request. */
  #open(id: number, endsStream: boolean, dependsOnItself: boolean): void {
    const session = this.#session;
    const request = this.#request;
    session.streams.last = id;
    if (id > session.drain.lastHandled || session.isFull) {
      const response = session.options.unhandled(session.address, request.contentType);
      session.refuse(id, endsStream, response);
      return;
    }
    const length = request.contentLength;
    const lacksBody = endsStream && length !== undefined && length > 0;
    if (request.isMalformed || dependsOnItself || lacksBody) {
      session.resetId(id, ERROR.protocolError);
      return;
    }
    const head = request.head(endsStream);
    const stream = new Stream(id, head, session, session.peer.initialWindow, !endsStream);
    if (endsStream) {
      stream.state = STATE.halfClosedRemote;
    } else {
      stream.missingBytes = length;
    }
    session.open(stream);
    const { refusal } = request;
    if (refusal === undefined) session.newRequests.add(stream);
    else this.#refuse(stream, refusal);
  }

  #refuse(stream: Stream, reason: HeadRefusal): void {
    const session = this.#session;
    const { options } = session;
    session.count('refused');
    options.refused(reason);
    const { status, fields, body } = options.refusal(
      reason,
      session.address,
      this.#request.contentType,
    );
    stream.body.discard();
    stream.respond(status, '', fields, body === '');
    if (body !== '') stream.send(body, true);
  }
}
