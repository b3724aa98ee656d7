import { constants } from 'node:http2';
import { BodyBuffer } from '@gateway/http1/message/body-buffer';
import { ControlFrames, isControlFrame } from './control-frames.ts';
import { FieldBlocks } from './field-blocks.ts';
import {
  CONTINUATION,
  END_HEADERS,
  flagsAt,
  HEAD_BYTES,
  HEADERS,
  PADDED,
  payloadBytes,
  PUSH_PROMISE,
  streamAt,
  typeAt,
  WITH_PRIORITY,
} from './frame-types.ts';
import { HpackError } from './hpack-error.ts';
import { InspectionError } from './inspection-error.ts';
import type { StreamWindows } from './stream-windows.ts';

const {
  NGHTTP2_COMPRESSION_ERROR,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_FRAME_SIZE_ERROR,
  NGHTTP2_PROTOCOL_ERROR,
} = constants;

const PREFACE_BYTES = 24;
const PRIORITY_BYTES = 5;
/** The largest frame: the default of SETTINGS_MAX_FRAME_SIZE, which the gateway does not change. */
const MAX_FRAME_BYTES = 16_384;

/** A field that node:http2 refuses, without indexing: `connection: x`. */
const REFUSED_FIELD = Buffer.from('\x00\x0aconnection\x01x', 'latin1');

/**
 * Inspects the bytes that a caller sends before node:http2 reads them, because it drops invalid fields silently. A field
 * block with an invalid field gets one more field, which node:http2 refuses by resetting the stream. Control frames are
 * dropped if node:http2 would end the connection for the error of one stream. Everything else passes unchanged.
 */
export class FrameInspector {
  readonly #blocks = new FieldBlocks();
  readonly #windows: StreamWindows;
  readonly #control: ControlFrames;
  readonly #maxBlockBytes: number;
  readonly #forward: (bytes: Buffer) => void;
  /** Bytes of the preface or of a payload that pass unread. */
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
   * @param windows the open streams
   * @param forward takes the bytes for node:http2
   * @param reset resets a stream that may not be open yet in node:http2
   */
  constructor(
    maxBlockBytes: number,
    windows: StreamWindows,
    forward: (bytes: Buffer) => void,
    reset: (stream: number, code: number) => void,
  ) {
    this.#maxBlockBytes = maxBlockBytes;
    this.#windows = windows;
    this.#forward = forward;
    this.#control = new ControlFrames(windows, reset);
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
        const end = at + HEAD_BYTES + payloadBytes(bytes, at);
        at = Math.min(end, bytes.length);
        this.#passBytes = end - at;
      }
    }
    if (forwarded === 0) this.#forward(bytes);
    else if (forwarded < bytes.length) this.#forward(bytes.subarray(forwarded));
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
      this.#windows.opened(streamAt(frame, 0));
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

function isFieldFrame(type: number): boolean {
  return type === HEADERS || type === CONTINUATION;
}

/** The part of a field block in a HEADERS frame (RFC 9113 section 6.2). */
function fragmentOf(frame: Buffer): Buffer {
  const flags = flagsAt(frame, 0);
  const padding = (flags & PADDED) === 0 ? 0 : (frame[HEAD_BYTES] ?? 0);
  const start = priorityAt(flags) + ((flags & WITH_PRIORITY) === 0 ? 0 : PRIORITY_BYTES);
  const end = frame.length - padding;
  if (start > end)
    throw new InspectionError('a frame has too much padding', NGHTTP2_PROTOCOL_ERROR);
  return frame.subarray(start, end);
}

function priorityAt(flags: number): number {
  return HEAD_BYTES + ((flags & PADDED) === 0 ? 0 : 1);
}

/**
 * Whether a HEADERS frame says that its stream depends on itself (RFC 7540 section 5.3.1), which ends the connection in
 * node:http2. If so it depends on no stream afterwards.
 */
function removeOwnDependency(frame: Buffer): boolean {
  const flags = flagsAt(frame, 0);
  if ((flags & WITH_PRIORITY) === 0) return false;
  const at = priorityAt(flags);
  if ((frame.readUInt32BE(at) & 0x7fffffff) !== streamAt(frame, 0)) return false;
  frame.writeUInt32BE(0, at);
  return true;
}

function refusedContinuation(frame: Buffer): Buffer {
  const head = Buffer.from(frame.subarray(0, HEAD_BYTES));
  head.writeUIntBE(REFUSED_FIELD.length, 0, 3);
  head[3] = CONTINUATION;
  head[4] = END_HEADERS;
  return Buffer.concat([head, REFUSED_FIELD]);
}
