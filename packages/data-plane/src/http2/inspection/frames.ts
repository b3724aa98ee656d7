import { constants } from 'node:http2';
import { BodyBuffer } from '@gateway/http1/message/body-buffer';
import { FieldBlocks } from './field-blocks.ts';
import { HpackError } from './hpack-error.ts';

const {
  NGHTTP2_COMPRESSION_ERROR,
  NGHTTP2_ENHANCE_YOUR_CALM,
  NGHTTP2_FRAME_SIZE_ERROR,
  NGHTTP2_PROTOCOL_ERROR,
} = constants;

const HEADERS = 1;
const PUSH_PROMISE = 5;
const CONTINUATION = 9;
const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;

const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const PRIORITY_BYTES = 5;
/** The largest frame: the default of SETTINGS_MAX_FRAME_SIZE, which the gateway does not change. */
const MAX_FRAME_BYTES = 16_384;

/** A field that node:http2 refuses, without indexing: `connection: x`. */
const REFUSED_FIELD = Buffer.from('\x00\x0aconnection\x01x', 'latin1');

/** The connection cannot continue. */
export class InspectionError extends Error {
  override readonly name = 'InspectionError';
  /** The reason that is counted. */
  readonly code = 'HTTP2_INVALID_FRAME';
  /** The code of GOAWAY. */
  readonly http2Code: number;

  constructor(message: string, http2Code: number, options?: ErrorOptions) {
    super(message, options);
    this.http2Code = http2Code;
  }
}

/**
 * Inspects the bytes that a caller sends before node:http2 reads them, because it drops invalid fields silently. A field
 * block with an invalid field gets one more field, which node:http2 refuses by resetting the stream. Everything else
 * passes unchanged.
 */
export class FrameInspector {
  readonly #blocks = new FieldBlocks();
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
  #fragments: Buffer[] = [];
  #blockBytes = 0;

  /**
   * @param maxBlockBytes the largest field block, encoded
   * @param forward takes the bytes for node:http2
   */
  constructor(maxBlockBytes: number, forward: (bytes: Buffer) => void) {
    this.#maxBlockBytes = maxBlockBytes;
    this.#forward = forward;
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
      if (isFieldFrame(bytes[at + 3])) {
        const frame = bytes.subarray(at, at + needed);
        at += needed;
        if (this.#isMalformed(frame)) {
          frame[4] = flagsOf(frame) & ~END_HEADERS;
          this.#forward(bytes.subarray(forwarded, at));
          this.#forward(refusedContinuation(frame));
          forwarded = at;
        }
      } else {
        const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3);
        at = Math.min(end, bytes.length);
        this.#passBytes = end - at;
      }
    }
    this.#forward(forwarded === 0 ? bytes : bytes.subarray(forwarded));
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

  /** How many bytes of a frame are needed to handle it: of a frame with fields all, of another one its head. */
  #frameBytes(bytes: Buffer, at: number): number {
    if (bytes.length - at < HEAD_BYTES) return HEAD_BYTES;
    const type = bytes[at + 3];
    const length = bytes.readUIntBE(at, 3);
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    const expected = this.#blockStream;
    // RFC 9113 section 6.10: nothing comes between the frames of a field block.
    const isNext = expected === 0 ? type !== CONTINUATION : type === CONTINUATION;
    if (!isNext || (expected !== 0 && stream !== expected)) {
      throw new InspectionError('a field block is interrupted', NGHTTP2_PROTOCOL_ERROR);
    }
    if (type === PUSH_PROMISE) {
      throw new InspectionError('a caller pushes', NGHTTP2_PROTOCOL_ERROR);
    }
    if (!isFieldFrame(type)) return HEAD_BYTES;
    if (stream === 0) {
      throw new InspectionError('a field block has no stream', NGHTTP2_PROTOCOL_ERROR);
    }
    if (length > MAX_FRAME_BYTES) {
      throw new InspectionError('a frame is too large', NGHTTP2_FRAME_SIZE_ERROR);
    }
    return HEAD_BYTES + length;
  }

  /** Adds a frame to its field block. Returns true if it completes a block with an invalid field. */
  #isMalformed(frame: Buffer): boolean {
    const fragment = frame[3] === HEADERS ? fragmentOf(frame) : frame.subarray(HEAD_BYTES);
    const isLast = (flagsOf(frame) & END_HEADERS) !== 0;
    this.#blockBytes += fragment.length;
    if (this.#blockBytes > this.#maxBlockBytes) {
      throw new InspectionError('a field block is too large', NGHTTP2_ENHANCE_YOUR_CALM);
    }
    if (!isLast) {
      this.#blockStream = frame.readUInt32BE(5) & 0x7fffffff;
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
      return this.#blocks.hasInvalidField(block);
    } catch (error) {
      if (!(error instanceof HpackError)) throw error;
      throw new InspectionError(error.message, NGHTTP2_COMPRESSION_ERROR, { cause: error });
    }
  }
}

function isFieldFrame(type: number | undefined): boolean {
  return type === HEADERS || type === CONTINUATION;
}

function flagsOf(frame: Buffer): number {
  return frame[4] ?? 0;
}

/** The part of a field block in a HEADERS frame (RFC 9113 section 6.2). */
function fragmentOf(frame: Buffer): Buffer {
  const flags = flagsOf(frame);
  const isPadded = (flags & PADDED) !== 0;
  const padding = isPadded ? (frame[HEAD_BYTES] ?? 0) : 0;
  const start = HEAD_BYTES + (isPadded ? 1 : 0) + ((flags & PRIORITY) === 0 ? 0 : PRIORITY_BYTES);
  const end = frame.length - padding;
  if (start > end)
    throw new InspectionError('a frame has too much padding', NGHTTP2_PROTOCOL_ERROR);
  return frame.subarray(start, end);
}

function refusedContinuation(frame: Buffer): Buffer {
  const head = Buffer.from(frame.subarray(0, HEAD_BYTES));
  head.writeUIntBE(REFUSED_FIELD.length, 0, 3);
  head[3] = CONTINUATION;
  head[4] = END_HEADERS;
  return Buffer.concat([head, REFUSED_FIELD]);
}
