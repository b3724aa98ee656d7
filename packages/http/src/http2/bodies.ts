import { ERROR, FLAG } from './protocol.ts';
import type { Session } from './session.ts';
import { afterEvent, EVENT, STATE, type StreamState } from './stream-state.ts';
import type { Stream } from './stream.ts';

/** A frame of DATA with less than its head takes is small. */
const SMALL_BYTES = 9;

/** Handles DATA frames, and the ends of messages. */
export class Bodies {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** A DATA frame. Returns the error of the connection, or NO_ERROR. */
  data(flags: number, id: number, bytes: Buffer, start: number, end: number): number {
    const session = this.#session;
    const total = end - start;
    if (id === 0) return ERROR.protocolError;
    if (!session.flow.receive(total)) return ERROR.flowControlError;
    let from = start;
    let to = end;
    if ((flags & FLAG.padded) !== 0) {
      if (from === end) return ERROR.frameSizeError;
      to -= bytes[from] ?? 0;
      from += 1;
      if (to < from) return ERROR.protocolError;
    }
    const stream = session.streams.open.get(id);
    const state = session.streams.stateOf(id);
    const outcome = session.refuseEvent(id, state, EVENT.receiveData);
    const isSmall = to - from < SMALL_BYTES;
    if (outcome !== undefined || stream === undefined) {
      if (isSmall) session.count('closedStream');
      // Of a stream that is not open only the window of the connection counts.
      if (state !== STATE.idle) session.read(undefined, total);
      return outcome ?? ERROR.internalError;
    }
    const endsStream = (flags & FLAG.endStream) !== 0;
    if (isSmall && !endsStream) session.count('smallData');
    if (stream.window?.receive(total) === false) {
      session.read(undefined, total);
      session.reset(stream, ERROR.flowControlError, 'malformed');
      return ERROR.noError;
    }
    return this.#body(stream, total, bytes.subarray(from, to), endsStream);
  }

  #body(stream: Stream, total: number, body: Buffer, endsStream: boolean): number {
    const session = this.#session;
    if (stream.missingBytes !== undefined) {
      session.flow.expectLess(Math.min(body.length, stream.missingBytes));
      stream.missingBytes -= body.length;
      if (stream.missingBytes < 0) {
        session.read(undefined, total);
        session.reset(stream, ERROR.protocolError, 'malformed');
        return ERROR.noError;
      }
    }
    // Padding is given back at once, the rest when it was read.
    if (total > body.length) session.read(stream, total - body.length);
    if (endsStream) this.endOfStream(stream, body);
    else if (body.length > 0) stream.body.received(body, false);
    return ERROR.noError;
  }

  /** The last bytes of a message, which may be none. */
  endOfStream(stream: Stream, body: Buffer): void {
    if (stream.missingBytes !== undefined && stream.missingBytes > 0) {
      this.#session.read(undefined, body.length);
      this.#session.reset(stream, ERROR.protocolError, 'malformed');
      return;
    }
    stream.state = afterEvent(stream.state, EVENT.receiveEnd) as StreamState;
    stream.body.received(body, true);
  }
}
