import { readUint31 } from './frame-reader.ts';
import { ERROR, FLAG } from './protocol.ts';
import type { Http2Session } from './http2-session.ts';

/** How much is read of the fields of one message, as a multiple of what is allowed. Above it the connection ends. */
export const READ_PER_ALLOWED = 4;
/** The bytes of a priority. */
export const PRIORITY_BYTES = 5;
/** CONTINUATION frames of one block. */
const MAX_CONTINUATIONS = 64;
const NONE = Buffer.alloc(0);

/** Takes a whole block: `block[start]` to `block[end - 1]`. Returns the error of the connection, or NO_ERROR. */
export type BlockHandler = (
  stream: number,
  endsStream: boolean,
  dependsOnItself: boolean,
  block: Buffer,
  start: number,
  end: number,
) => number;

/** A block that goes on in CONTINUATION frames (RFC 9113 section 4.3). */
interface Block {
  readonly stream: number;
  readonly endsStream: boolean;
  readonly dependsOnItself: boolean;
  bytes: Buffer;
  length: number;
  continuations: number;
}

/** Joins HEADERS and CONTINUATION frames to header blocks. */
export class HeaderBlocks {
  readonly #session: Http2Session;
  readonly #handler: BlockHandler;
  #block: Block | undefined = undefined;

  constructor(session: Http2Session, handler: BlockHandler) {
    this.#session = session;
    this.#handler = handler;
  }

  /** The stream whose block goes on: no other frame may come before its end. undefined if there is none. */
  get pending(): number | undefined {
    return this.#block?.stream;
  }

  /** A HEADERS frame. Returns the error of the connection, or NO_ERROR. */
  headers(flags: number, id: number, bytes: Buffer, start: number, end: number): number {
    if (id === 0) return ERROR.protocolError;
    let from = start;
    let to = end;
    if ((flags & FLAG.padded) !== 0) {
      if (from === end) return ERROR.frameSizeError;
      to -= bytes[from] ?? 0;
      from += 1;
    }
    let dependsOnItself = false;
    if ((flags & FLAG.priority) !== 0) {
      if (end - from < PRIORITY_BYTES) return ERROR.frameSizeError;
      dependsOnItself = readUint31(bytes, from) === id;
      from += PRIORITY_BYTES;
    }
    if (to < from) return ERROR.protocolError;
    const endsStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) {
      return this.#handler(id, endsStream, dependsOnItself, bytes, from, to);
    }
    const { deadlines, clock } = this.#session;
    deadlines.awaitsHead(clock.monotonicMs());
    this.#block = {
      stream: id,
      endsStream,
      dependsOnItself,
      bytes: NONE,
      length: 0,
      continuations: 0,
    };
    return this.#append(this.#block, bytes, from, to);
  }

  /** A CONTINUATION frame of the block that goes on. */
  continuation(flags: number, bytes: Buffer, start: number, end: number): number {
    const block = this.#block;
    if (block === undefined) return ERROR.protocolError;
    block.continuations += 1;
    if (block.continuations > 1) this.#session.count('continuation');
    if (block.continuations > MAX_CONTINUATIONS) return this.#flood();
    const error = this.#append(block, bytes, start, end);
    if (error !== ERROR.noError || (flags & FLAG.endHeaders) === 0) return error;
    this.#block = undefined;
    this.#session.deadlines.hasHead();
    return this.#handler(
      block.stream,
      block.endsStream,
      block.dependsOnItself,
      block.bytes,
      0,
      block.length,
    );
  }

  /** Its size is bounded like that of its fields, which are seldom smaller than half of it. */
  #append(block: Block, bytes: Buffer, start: number, end: number): number {
    const length = block.length + end - start;
    if (length > this.#session.limits.maxHeaderBytes * READ_PER_ALLOWED) {
      return this.#flood();
    }
    if (length > block.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * length, 1024));
      block.bytes.copy(larger, 0, 0, block.length);
      block.bytes = larger;
    }
    bytes.copy(block.bytes, block.length, start, end);
    block.length = length;
    return ERROR.noError;
  }

  #flood(): number {
    this.#session.fail(ERROR.enhanceYourCalm, 'HTTP2_FLOOD');
    return ERROR.noError;
  }
}
