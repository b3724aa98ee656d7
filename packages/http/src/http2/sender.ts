import type { Socket } from 'node:net';
import type { HeaderFields } from '../fields/header-fields.ts';
import { ControlFrames, writeBytes, writeFrameHead } from './frame-writer.ts';
import { Encoder, MAX_FIELD_OVERHEAD } from './hpack/encoder.ts';
import { OUTPUT_BYTES, Output } from './output.ts';
import { FIRST_WINDOW, FLAG, FRAME, FRAME_HEAD_BYTES, MAX_FRAME_BYTES } from './protocol.ts';
import type { Http2Stream } from './http2-stream.ts';

/** Heads and bodies wait while more than this waits in the socket. */
const MAX_SOCKET_BYTES = 128 * 1024;
/** A handler that waits may go on when no more than this is left of its stream. */
const LOW_WATER_BYTES = 16 * 1024;

/** What the sender tells its connection. */
export interface SenderEvents {
  /** The head of a request is to be written: it gets its id. */
  opened(stream: Http2Stream): void;
  /** The end of a stream was written. */
  ended(stream: Http2Stream): void;
  /** The system has taken all of a stream that has ended. */
  taken(stream: Http2Stream): void;
  /** A stream takes more. */
  writable(stream: Http2Stream): void;
  /** DATA frames were written. */
  sentData(frames: number): void;
}

/**
 * Sends the frames of a connection: one write for all that became ready since the last one, encoded into memory that all
 * connections share. Mostly it is encoded when it is written; bytes that become invalid before are encoded at once.
 * Streams take turns of one frame of DATA each, so that a large response does not delay a small one.
 */
export class Sender {
  readonly control = new ControlFrames();
  readonly encoder = new Encoder();
  /** How much DATA the peer allows for all streams together. */
  window = FIRST_WINDOW;
  readonly #socket: Socket;
  readonly #events: SenderEvents;
  /** Streams that have something to send, in the order of their turns. */
  #ready: Http2Stream[] = [];
  /** Streams that have ended, whose last bytes the system has not taken. */
  #ended: Http2Stream[] = [];
  #writable: Http2Stream[] = [];
  readonly #output: Output;
  #memory: Buffer | undefined = undefined;
  #at = 0;
  #dataFrames = 0;

  constructor(socket: Socket, events: SenderEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#output = new Output(socket, () => {
      this.#confirmTaken();
    });
  }

  /** What waits for a peer that does not read: frames that flow control does not bound, and bytes in the socket. */
  get unreadBytes(): number {
    return this.control.length + this.#socket.writableLength;
  }

  /** A stream has something to send. */
  queue(stream: Http2Stream): void {
    if (stream.isQueued) return;
    stream.isQueued = true;
    this.#ready.push(stream);
  }

  /** Encodes all that the windows and the socket allow, for the next write. */
  encode(): void {
    if (this.#socket.destroyed) return;
    // Before more is written: with large responses in progress the socket may never be empty after it.
    this.#confirmTaken();
    // The connection is ending: a write would fail, and destroy what the peer has not read.
    if (!this.#socket.writable) return;
    this.#takeControl();
    this.#takeTurns();
  }

  /** Writes all that the windows and the socket allow. */
  flush(): void {
    if (this.#socket.destroyed) return;
    this.encode();
    this.#write();
    if (this.#dataFrames > 0) this.#events.sentData(this.#dataFrames);
    this.#dataFrames = 0;
    this.#confirmTaken();
    if (this.#writable.length > 0) this.#tellWritable();
  }

  #takeControl(): void {
    const { length } = this.control;
    if (length > 0) this.#at = this.control.takeInto(this.#room(length), this.#at);
  }

  /** Rounds of one turn for each stream, until none can send. */
  #takeTurns(): void {
    for (let progress = true; progress && this.#ready.length > 0;) {
      progress = false;
      const round = this.#ready;
      this.#ready = [];
      for (const stream of round) {
        const canSend = !stream.isClosed && this.#canSend(stream);
        if (canSend) {
          progress = true;
          this.#turn(stream);
        }
        const waits = !stream.isClosed && stream.isPending && (!canSend || stream.sendWindow > 0);
        if (waits) this.#ready.push(stream);
        else stream.isQueued = false;
      }
    }
  }

  /** A stream whose own window is empty leaves the queue until the window is enlarged. */
  #canSend(stream: Http2Stream): boolean {
    if (this.#socket.writableLength > MAX_SOCKET_BYTES) return false;
    if (stream.fields !== undefined || stream.waitingBytes === 0) return true;
    return this.window > 0 && stream.sendWindow > 0;
  }

  #turn(stream: Http2Stream): void {
    const { fields } = stream;
    if (fields !== undefined) {
      stream.fields = undefined;
      if (stream.id === 0) this.#events.opened(stream);
      const endsWithHead =
        stream.isLast && stream.waitingBytes === 0 && stream.trailers === undefined;
      this.#head(stream.id, stream.status, fields, endsWithHead);
      if (endsWithHead) {
        this.#end(stream);
        return;
      }
    }
    this.#data(stream);
    const { trailers } = stream;
    if (trailers === undefined || stream.waitingBytes > 0) return;
    stream.trailers = undefined;
    this.#head(stream.id, undefined, trailers, true);
    this.#end(stream);
  }

  /** One frame of DATA, if there is any. */
  #data(stream: Http2Stream): void {
    const { part, partAt, waitingBytes } = stream;
    const left = part.length - partAt;
    // Settings can make a window negative (RFC 9113 section 6.9.2).
    const window = Math.max(0, stream.sendWindow);
    const bytes = Math.min(left, window, this.window, MAX_FRAME_BYTES);
    if (bytes === 0 && waitingBytes > 0) return;
    const endsStream = bytes === waitingBytes && stream.isLast && stream.trailers === undefined;
    if (bytes === 0 && !endsStream) return;
    const out = this.#room(FRAME_HEAD_BYTES + bytes);
    const flags = endsStream ? FLAG.endStream : 0;
    const at = writeFrameHead(out, this.#at, bytes, FRAME.data, flags, stream.id);
    this.#at = writeBytes(out, at, part, partAt, partAt + bytes);
    this.window -= bytes;
    stream.sendWindow -= bytes;
    stream.sent(bytes);
    this.#dataFrames += 1;
    if (endsStream) this.#end(stream);
    else if (stream.isWaiting && stream.waitingBytes <= LOW_WATER_BYTES) {
      stream.isWaiting = false;
      this.#writable.push(stream);
    }
  }

  #end(stream: Http2Stream): void {
    this.#ended.push(stream);
    this.#events.ended(stream);
  }

  /**
   * A head that precedes all that waits but control frames, because settings come first: an interim response, or with
   * `ends` a whole response without a body of a stream that is not open.
   *
   * @returns false if it was dropped because too much waits in the socket; a 100, for which the peer waits, never is
   */
  headAtOnce(stream: number, status: number, fields: HeaderFields, ends: boolean): boolean {
    const waitingBytes = this.#socket.writableLength + this.#at;
    if (status !== 100 && waitingBytes > MAX_SOCKET_BYTES) return false;
    this.#takeControl();
    this.#head(stream, status, fields, ends);
    return true;
  }

  /** HEADERS, and CONTINUATION if the block is larger than a frame. */
  #head(stream: number, status: number | undefined, fields: HeaderFields, ends: boolean): void {
    let size = FRAME_HEAD_BYTES + 2 * MAX_FIELD_OVERHEAD;
    for (const text of fields) size += text.length + MAX_FIELD_OVERHEAD / 2;
    const endFlag = ends ? FLAG.endStream : 0;
    if (size > MAX_FRAME_BYTES) {
      const block = Buffer.allocUnsafeSlow(size);
      this.#largeBlock(stream, block.subarray(0, this.#block(block, 0, status, fields)), endFlag);
      return;
    }
    const out = this.#room(size);
    const start = this.#at + FRAME_HEAD_BYTES;
    const end = this.#block(out, start, status, fields);
    writeFrameHead(out, this.#at, end - start, FRAME.headers, FLAG.endHeaders | endFlag, stream);
    this.#at = end;
  }

  #block(out: Buffer, start: number, status: number | undefined, fields: HeaderFields): number {
    const { encoder } = this;
    let at = encoder.begin(out, start);
    if (status !== undefined) at = encoder.status(out, at, status);
    for (let index = 0; index < fields.length; index += 2) {
      at = encoder.field(out, at, fields[index] ?? '', fields[index + 1] ?? '', index >> 1);
    }
    return at;
  }

  #largeBlock(stream: number, block: Buffer, endFlag: number): void {
    for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME_BYTES) {
      const part = block.subarray(at, at + MAX_FRAME_BYTES);
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      const isLast = at + MAX_FRAME_BYTES >= block.length;
      const flags = (at === 0 ? endFlag : 0) | (isLast ? FLAG.endHeaders : 0);
      const out = this.#room(FRAME_HEAD_BYTES + part.length);
      const start = writeFrameHead(out, this.#at, part.length, type, flags, stream);
      this.#at = start + part.copy(out, start);
    }
  }

  /** Memory with room for so many bytes from `#at`. */
  #room(bytes: number): Buffer {
    if (this.#at + bytes > OUTPUT_BYTES) this.#write();
    return (this.#memory ??= this.#output.take());
  }

  #write(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const bytes = this.#at;
    this.#memory = undefined;
    this.#at = 0;
    this.#output.write(memory, bytes);
  }

  /** Tells of streams that have ended, if nothing waits in the socket or to be written: that may be such an end. */
  #confirmTaken(): void {
    if (this.#ended.length === 0 || this.#at > 0 || this.#socket.writableLength > 0) return;
    const ended = this.#ended;
    this.#ended = [];
    for (const stream of ended) this.#events.taken(stream);
  }

  #tellWritable(): void {
    const streams = this.#writable;
    this.#writable = [];
    for (const stream of streams) if (!stream.isClosed) this.#events.writable(stream);
  }
}
