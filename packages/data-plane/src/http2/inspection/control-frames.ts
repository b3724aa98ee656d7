import { constants } from 'node:http2';
import {
  ACK,
  flagsAt,
  HEAD_BYTES,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  streamAt,
  typeAt,
  WINDOW_UPDATE,
} from './frame-types.ts';
import { InspectionError } from './inspection-error.ts';
import type { OpenStreams } from './open-streams.ts';

const {
  NGHTTP2_CANCEL,
  NGHTTP2_FLOW_CONTROL_ERROR,
  NGHTTP2_FRAME_SIZE_ERROR,
  NGHTTP2_NO_ERROR,
  NGHTTP2_PROTOCOL_ERROR,
  NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
} = constants;

const PING_BYTES = HEAD_BYTES + 8;
const PRIORITY_BYTES = HEAD_BYTES + 5;
const RESET_BYTES = HEAD_BYTES + 4;
const WINDOW_UPDATE_BYTES = HEAD_BYTES + 4;
const SETTING_BYTES = 6;

/** Whether the payload of a frame of this type is inspected, besides those with fields. */
export function isControlFrame(type: number): boolean {
  return (type >= PRIORITY && type <= SETTINGS) || type === PING || type === WINDOW_UPDATE;
}

/**
 * Inspects the frames that control streams. node:http2 ends the connection for errors that RFC 9113 limits to one stream;
 * here such a frame is dropped, and its stream is reset.
 */
export class ControlFrames {
  readonly #streams: OpenStreams;
  readonly #reset: (stream: number, code: number) => void;

  /** @param reset resets a stream that may not be open yet in node:http2 */
  constructor(streams: OpenStreams, reset: (stream: number, code: number) => void) {
    this.#streams = streams;
    this.#reset = reset;
  }

  /**
   * Whether node:http2 may read a frame, which may be changed. It handles a frame of a wrong size, and one for a stream
   * that was not opened.
   *
   * @throws InspectionError if the connection must end
   */
  passes(frame: Buffer): boolean {
    switch (typeAt(frame, 0)) {
      case WINDOW_UPDATE:
        return this.#windowUpdate(frame);
      case PRIORITY:
        return this.#priority(frame);
      case PING:
        // The gateway sends no pings. An answer to none is no error (RFC 9113 section 6.7).
        return (
          (flagsAt(frame, 0) & ACK) === 0 || frame.length !== PING_BYTES || streamAt(frame, 0) !== 0
        );
      case RST_STREAM:
        this.#cancel(frame);
        return true;
      case SETTINGS:
        this.#settings(frame);
        return true;
      default:
        return true;
    }
  }

  /** RFC 9113 sections 6.9 and 6.9.1. */
  #windowUpdate(frame: Buffer): boolean {
    const stream = streamAt(frame, 0);
    if (stream === 0 || frame.length !== WINDOW_UPDATE_BYTES || this.#streams.isIdle(stream))
      return true;
    // It arrived after the response, or after the stream was reset.
    if (!this.#streams.isOpen(stream)) return false;
    const bytes = frame.readUInt32BE(HEAD_BYTES) & 0x7fffffff;
    if (bytes === 0) return this.#fails(stream, NGHTTP2_PROTOCOL_ERROR);
    return this.#streams.enlarged(stream, bytes) || this.#fails(stream, NGHTTP2_FLOW_CONTROL_ERROR);
  }

  /** RFC 9113 section 6.3, and RFC 7540 section 5.3.1. The gateway has no use for priorities (RFC 9113 section 5.3.2). */
  #priority(frame: Buffer): boolean {
    const stream = streamAt(frame, 0);
    if (stream === 0) throw new InspectionError('a priority has no stream', NGHTTP2_PROTOCOL_ERROR);
    if (frame.length !== PRIORITY_BYTES) return this.#fails(stream, NGHTTP2_FRAME_SIZE_ERROR);
    const parent = frame.readUInt32BE(HEAD_BYTES) & 0x7fffffff;
    return parent !== stream || this.#fails(stream, NGHTTP2_PROTOCOL_ERROR);
  }

  /**
   * The caller resets a stream. With NO_ERROR node:http2 would keep a stream whose response is not sent yet until the
   * connection closes, and would report the response as sent.
   */
  #cancel(frame: Buffer): void {
    const stream = streamAt(frame, 0);
    const isWhole = frame.length === RESET_BYTES;
    if (
      isWhole &&
      this.#streams.isOpen(stream) &&
      frame.readUInt32BE(HEAD_BYTES) === NGHTTP2_NO_ERROR
    ) {
      frame.writeUInt32BE(NGHTTP2_CANCEL, HEAD_BYTES);
    }
    this.#streams.reset(stream);
  }

  #fails(stream: number, code: number): false {
    if (this.#streams.isOpen(stream)) {
      this.#streams.failed(stream);
      this.#reset(stream, code);
    }
    return false;
  }

  #settings(frame: Buffer): void {
    for (let at = HEAD_BYTES; at + SETTING_BYTES <= frame.length; at += SETTING_BYTES) {
      if (frame.readUInt16BE(at) === NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) {
        this.#streams.resized(frame.readUInt32BE(at + 2));
      }
    }
  }
}
