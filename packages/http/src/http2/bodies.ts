import type { HeaderFields } from '../fields/header-fields.ts';
import { SMALL_MESSAGE_BYTES, type BodyBytes } from '../message/body-bytes.ts';
import { writeBytes } from './frame-writer.ts';
import { ERROR, FLAG } from './protocol.ts';
import type { Http2Session } from './http2-session.ts';
import { afterEvent, EVENT, STATE, type StreamState } from './stream-state.ts';
import type { Http2Stream } from './http2-stream.ts';

const NONE = Buffer.alloc(0);
/** Smaller frames of DATA of a stream are joined, because to pass one on costs more than to copy it. */
const SMALL_BYTES = 512;

/**
 * Handles DATA frames, and the ends of messages. Small frames of one stream within a read are passed on together, so that
 * each costs little more than its bytes.
 */
export class Bodies {
  readonly #session: Http2Session;
  /** What has arrived in this read and was not passed on: the start and the end of each part in `#bytes`. */
  readonly #arrived = new Map<Http2Stream, number[]>();
  #bytes: Buffer = NONE;

  constructor(session: Http2Session) {
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
    const endsStream = (flags & FLAG.endStream) !== 0;
    // Windows bound the others.
    const isEmpty = from === to && !endsStream;
    if (outcome !== undefined || stream === undefined) {
      if (isEmpty) session.count('closedStream');
      // Of a stream that is not open only the window of the connection counts.
      if (state !== STATE.idle) session.read(undefined, total);
      return outcome ?? ERROR.internalError;
    }
    if (isEmpty) session.count('emptyData');
    // Without a window there was no head (RFC 9113 section 8.1).
    if (stream.window?.receive(total) !== true) {
      session.read(undefined, total);
      const code = stream.window === undefined ? ERROR.protocolError : ERROR.flowControlError;
      session.reset(stream, code, 'malformed');
      return ERROR.noError;
    }
    const length = to - from;
    if (stream.missingBytes !== undefined) {
      session.flow.expectLess(Math.min(length, stream.missingBytes));
      stream.missingBytes -= length;
      if (stream.missingBytes < 0) {
        session.read(undefined, total);
        session.reset(stream, ERROR.protocolError, 'malformed');
        return ERROR.noError;
      }
    }
    // Padding is given back at once, the rest when it was read.
    if (total > length) session.read(stream, total - length);
    if (length > 0) this.#add(stream, bytes, from, to);
    if (endsStream) this.endOfStream(stream);
    else if (length >= SMALL_BYTES) this.passOn(stream);
    return ERROR.noError;
  }

  #add(stream: Http2Stream, bytes: Buffer, from: number, to: number): void {
    // A frame that has arrived in parts lies elsewhere.
    if (bytes !== this.#bytes) this.endOfRead();
    this.#bytes = bytes;
    const parts = this.#arrived.get(stream);
    if (parts === undefined) this.#arrived.set(stream, [from, to]);
    else parts.push(from, to);
  }

  /** Passes on what has arrived of a stream, before what ends it. */
  passOn(stream: Http2Stream): void {
    const bytes = this.#take(stream);
    if (bytes.length === 0) return;
    stream.hasPassedBody = true;
    stream.received(bytes, false);
  }

  /** Passes on what has arrived of all streams: the bytes are valid until then. */
  endOfRead(): void {
    for (const stream of this.#arrived.keys()) this.passOn(stream);
    this.#bytes = NONE;
  }

  #take(stream: Http2Stream): Buffer {
    const parts = this.#arrived.get(stream);
    if (parts === undefined) return NONE;
    this.#arrived.delete(stream);
    return parts.length === 2 ? this.#bytes.subarray(parts[0], parts[1]) : join(this.#bytes, parts);
  }

  /** The rest of a body. A small one that arrived at once is a string, because a view of a buffer costs more. */
  #takeLast(stream: Http2Stream): BodyBytes {
    const [from = 0, to = 0, next] = this.#arrived.get(stream) ?? [];
    const isWhole = !stream.hasPassedBody && next === undefined;
    if (!isWhole || to - from > SMALL_MESSAGE_BYTES) return this.#take(stream);
    this.#arrived.delete(stream);
    return this.#bytes.toString('latin1', from, to);
  }

  /** Ends a message with what has arrived of it, which may be nothing. */
  endOfStream(stream: Http2Stream, trailers?: HeaderFields): void {
    const bytes = this.#takeLast(stream);
    if (stream.missingBytes !== undefined && stream.missingBytes > 0) {
      this.#session.read(undefined, bytes.length);
      this.#session.reset(stream, ERROR.protocolError, 'malformed');
      return;
    }
    stream.state = afterEvent(stream.state, EVENT.receiveEnd) as StreamState;
    stream.received(bytes, true, trailers);
    this.#session.received(stream);
  }
}

function join(bytes: Buffer, parts: readonly number[]): Buffer {
  let length = 0;
  for (let index = 0; index < parts.length; index += 2) {
    length += (parts[index + 1] ?? 0) - (parts[index] ?? 0);
  }
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (let index = 0; index < parts.length; index += 2) {
    at = writeBytes(joined, at, bytes, parts[index] ?? 0, parts[index + 1] ?? 0);
  }
  return joined;
}
