import { constants } from 'node:http2';
import { BodyBuffer } from '@gateway/http/message/body-buffer';
import { ControlFrames, isControlFrame } from './control-frames.ts';
import { FieldBlocks } from './field-blocks.ts';
import {
  fragmentOf,
  isFieldFrame,
  refusedContinuation,
  removeOwnDependency,
} from './field-frames.ts';
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  flagsAt,
  HEAD_BYTES,
  HEADERS,
  payloadBytes,
  PUSH_PROMISE,
  RST_STREAM,
  streamAt,
  typeAt,
} from './frame-types.ts';
import { HpackError } from './hpack-error.ts';
import { InspectionError } from './inspection-error.ts';
import type { OpenStreams } from './open-streams.ts';

const {
  NGHTTP2_COMPRESSION_ERROR,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_FRAME_SIZE_ERROR,
  NGHTTP2_PROTOCOL_ERROR,
  NGHTTP2_STREAM_CLOSED,
} = constants;

const PREFACE_BYTES = 24;
const RESET_BYTES = 4;
/** The largest frame: the default of SETTINGS_MAX_FRAME_SIZE, which the gateway does not change. */
const MAX_FRAME_BYTES = 16_384;

/**
 * Inspects the bytes that a caller sends before node:http2 reads them, because it drops invalid fields silently. A field
 * block with an invalid field gets one more field, which node:http2 refuses by resetting the stream. Control frames are
 * dropped if node:http2 would end the connection for the error of one stream. Everything else passes unchanged.
 */
export class FrameInspector {
  readonly #blocks = new FieldBlocks();
  readonly #streams: OpenStreams;
  readonly #control: ControlFrames;
  readonly #late: (stream: number) => void;
  readonly #maxBlockBytes: number;
  readonly #forward: (bytes: Buffer) => void;
  /** How many of the next bytes are forwarded without being read (preface or payload). */
  #passBytes = PREFACE_BYTES;
  /** The start of a frame, until `neededBytes` have arrived. */
  #held = new BodyBuffer();
  #heldBytes = 0;
  #neededBytes = HEAD_BYTES;
  /** The stream whose field block is incomplete, or 0. */
  #blockStream = 0;
  #dependsOnItself = false;
  #fragments: Buffer[] = [];
  #blockBytes = 0;

  /**
   * @param maxBlockBytes the largest field block, encoded
   * @param streams the open streams
   * @param forward takes the bytes for node:http2
   * @param reset resets a stream that may not be open yet in node:http2
   * @param late tells the caller that a stream is closed, on which it has sent more than it may
   */
  constructor(
    maxBlockBytes: number,
    streams: OpenStreams,
    forward: (bytes: Buffer) => void,
    reset: (stream: number, code: number) => void,
    late: (stream: number) => void,
  ) {
    this.#late = late;
    this.#maxBlockBytes = maxBlockBytes;
    this.#streams = streams;
    this.#forward = forward;
    this.#control = new ControlFrames(streams, reset);
  }

  /**
   * Takes the bytes that arrived. It may change them.
   *
   * @throws InspectionError if the connection must end. No bytes may be given after that
   */
  receive(arrived: Buffer): void {
    const bytes = this.#heldBytes === 0 ? arrived : this.#joined(arrived);
    if (bytes === undefined) return;
    /** What is before this has been forwarded. */
    let forwarded = 0;
    let at = Math.min(this.#passBytes, bytes.length);
    this.#passBytes -= at;
    while (at < bytes.length) {
      const needed = this.#frameBytes(bytes, at);
      if (needed > bytes.length - at) {
        if (at > forwarded) this.#forward(bytes.subarray(forwarded, at));
        this.#hold(bytes.subarray(at), needed);
        return;
      }
      const type = typeAt(bytes, at);
      const isPart = type === DATA || type === HEADERS;
      if (isPart && this.#streams.isLate(streamAt(bytes, at))) {
        if (at > forwarded) this.#forward(bytes.subarray(forwarded, at));
        forwarded = at;
        this.#close(streamAt(bytes, at));
      }
      if (isFieldFrame(type)) {
        const frame = bytes.subarray(at, at + needed);
        at += needed;
        if (this.#isMalformed(frame)) {
          frame[4] = flagsAt(frame, 0) & ~END_HEADERS;
          this.#forward(bytes.subarray(forwarded, at));
          this.#forward(refusedContinuation(frame));
          forwarded = at;
        }
      } else if (isControlFrame(type) && needed > HEAD_BYTES) {
        if (!this.#control.passes(bytes.subarray(at, at + needed))) {
          if (at > forwarded) this.#forward(bytes.subarray(forwarded, at));
          forwarded = at + needed;
        }
        at += needed;
      } else {
        if (type === DATA && (flagsAt(bytes, at) & END_STREAM) !== 0) {
          this.#streams.ended(streamAt(bytes, at));
        }
        const end = at + HEAD_BYTES + payloadBytes(bytes, at);
        at = Math.min(end, bytes.length);
        this.#passBytes = end - at;
      }
    }
    if (forwarded === 0) this.#forward(bytes);
    else if (forwarded < bytes.length) this.#forward(bytes.subarray(forwarded));
  }

  /**
   * Closes a stream on which the caller has sent more after its end: node:http2 would end the connection, unless the
   * stream is reset before. It still reads the frame, because the table of fields and the windows depend on it.
   */
  #close(stream: number): void {
    this.#forward(resetFrame(stream));
    this.#late(stream);
  }

  #hold(start: Buffer, needed: number): void {
    this.#held.add(start);
    this.#heldBytes += start.length;
    this.#neededBytes = needed;
  }

  /** What is held with what arrived, if that is enough to continue. */
  #joined(arrived: Buffer): Buffer | undefined {
    if (this.#heldBytes + arrived.length < this.#neededBytes) {
      this.#hold(arrived, this.#neededBytes);
      return undefined;
    }
    this.#held.add(arrived);
    const bytes = this.#held.whole();
    this.#held = new BodyBuffer();
    this.#heldBytes = 0;
    return bytes;
  }

  /** How many bytes of a frame are needed to handle it: all of one that is inspected, of another one its head. */
  #frameBytes(bytes: Buffer, at: number): number {
    if (bytes.length - at < HEAD_BYTES) return HEAD_BYTES;
    const type = typeAt(bytes, at);
    const length = payloadBytes(bytes, at);
    const stream = streamAt(bytes, at);
    const expected = this.#blockStream;
    // RFC 9113 section 6.10: nothing comes between the frames of a field block.
    const isNext = expected === 0 ? type !== CONTINUATION : type === CONTINUATION;
    if (!isNext || (expected !== 0 && stream !== expected)) {
      throw new InspectionError('a field block is interrupted', NGHTTP2_PROTOCOL_ERROR);
    }
    if (type === PUSH_PROMISE) {
      throw new InspectionError('a caller pushes', NGHTTP2_PROTOCOL_ERROR);
    }
    if (isControlFrame(type)) return HEAD_BYTES + (length > MAX_FRAME_BYTES ? 0 : length);
    if (!isFieldFrame(type)) return HEAD_BYTES;
    if (stream === 0) {
      throw new InspectionError('a field block has no stream', NGHTTP2_PROTOCOL_ERROR);
    }
    if (length > MAX_FRAME_BYTES) {
      throw new InspectionError('a frame is too large', NGHTTP2_FRAME_SIZE_ERROR);
    }
    return HEAD_BYTES + length;
  }

  /** Adds a frame to its field block. Returns true if it completes a block that must be refused. */
  #isMalformed(frame: Buffer): boolean {
    const isFirst = typeAt(frame, 0) === HEADERS;
    const fragment = isFirst ? fragmentOf(frame) : frame.subarray(HEAD_BYTES);
    const isLast = (flagsAt(frame, 0) & END_HEADERS) !== 0;
    if (isFirst) {
      this.#streams.opened(streamAt(frame, 0));
      if ((flagsAt(frame, 0) & END_STREAM) !== 0) this.#streams.ended(streamAt(frame, 0));
      this.#dependsOnItself = removeOwnDependency(frame);
    }
    this.#blockBytes += fragment.length;
    if (this.#blockBytes > this.#maxBlockBytes) {
      throw new InspectionError('a field block is too large', NGHTTP2_ENHANCE_YOUR_CALM);
    }
    if (!isLast) {
      this.#blockStream = streamAt(frame, 0);
      // A copy, so that a small frame does not keep the whole chunk that it arrived in.
      this.#fragments.push(Buffer.from(fragment));
      return false;
    }
    const block =
      this.#fragments.length === 0 ? fragment : Buffer.concat([...this.#fragments, fragment]);
    this.#fragments = [];
    this.#blockBytes = 0;
    this.#blockStream = 0;
    try {
      return this.#blocks.hasInvalidField(block) || this.#dependsOnItself;
    } catch (error) {
      if (!(error instanceof HpackError)) throw error;
      throw new InspectionError(error.message, NGHTTP2_COMPRESSION_ERROR, { cause: error });
    }
  }
}

/** RST_STREAM with STREAM_CLOSED. */
export function resetFrame(stream: number): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + RESET_BYTES);
  frame.writeUIntBE(RESET_BYTES, 0, 3);
  frame[3] = RST_STREAM;
  frame.writeUInt32BE(stream, 5);
  frame.writeUInt32BE(NGHTTP2_STREAM_CLOSED, HEAD_BYTES);
  return frame;
}
