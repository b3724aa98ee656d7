import {
  DATA,
  END_STREAM,
  flagsAt,
  GOAWAY,
  HEAD_BYTES,
  HEADERS,
  payloadBytes,
  RST_STREAM,
  streamAt,
  typeAt,
} from './frame-types.ts';
import type { OpenStreams } from './open-streams.ts';

/** A GOAWAY frame up to its error code. */
const GOAWAY_BYTES = HEAD_BYTES + 8;

/** Follows the frames that node:http2 sends: which streams end, and how much is sent on each. */
export class SentFrames {
  readonly #streams: OpenStreams;
  /** Is called for a GOAWAY frame with an error; the graceful end of a connection has none. */
  readonly #failed: () => void;
  /** How many of the next bytes are payload, which is not read. */
  #passBytes = 0;
  /** The start of a frame, if the rest comes with the next bytes. */
  #held: Buffer | undefined = undefined;

  constructor(streams: OpenStreams, failed: () => void) {
    this.#streams = streams;
    this.#failed = failed;
  }

  /** Whether another frame may be sent now. */
  get isBetweenFrames(): boolean {
    return this.#passBytes === 0 && this.#held === undefined;
  }

  /** Takes the bytes that are sent next. */
  sent(next: Buffer): void {
    const bytes = this.#held === undefined ? next : Buffer.concat([this.#held, next]);
    this.#held = undefined;
    let at = this.#passBytes;
    while (at < bytes.length) {
      const isWhole = bytes.length - at >= HEAD_BYTES;
      if (!isWhole || (typeAt(bytes, at) === GOAWAY && bytes.length - at < GOAWAY_BYTES)) {
        this.#held = Buffer.from(bytes.subarray(at));
        at = bytes.length;
        break;
      }
      this.#frame(bytes, at);
      at += HEAD_BYTES + payloadBytes(bytes, at);
    }
    this.#passBytes = at - bytes.length;
  }

  #frame(bytes: Buffer, at: number): void {
    const streams = this.#streams;
    switch (typeAt(bytes, at)) {
      case DATA:
      case HEADERS:
        if ((flagsAt(bytes, at) & END_STREAM) !== 0) streams.closed(streamAt(bytes, at));
        else if (typeAt(bytes, at) === DATA) {
          streams.sent(streamAt(bytes, at), payloadBytes(bytes, at));
        }
        break;
      case RST_STREAM:
        streams.closed(streamAt(bytes, at));
        break;
      case GOAWAY:
        streams.stop();
        if (bytes.readUInt32BE(at + HEAD_BYTES + 4) !== 0) this.#failed();
        break;
    }
  }
}
