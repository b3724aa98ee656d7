import { BodyBuffer } from './body-buffer.ts';
import { SMALL_MESSAGE_BYTES, type BodyBytes } from './body-bytes.ts';
import type { HeaderFields } from '../fields/header-fields.ts';
import { ChunkedDecoder, type TakePiece } from './chunked-decoder.ts';
import type { BodyFraming } from './framing.ts';
import type { HeadLimits } from './trailer-section.ts';

/** Why bytes are not a message. */
export const MALFORMED_REASONS = [
  'target_overflow',
  'header_overflow',
  'malformed_head',
  'malformed_body',
] as const;
export type MalformedReason = (typeof MALFORMED_REASONS)[number];

/** The differences between reading requests and reading responses. */
export interface MessageSyntax<Head> {
  /** What every start line begins with. */
  readonly start: string;
  /** How many empty lines may come before a start line. */
  readonly maxEmptyLines: number;
  /** See `ChunkedDecoder`. */
  readonly strictChunks: boolean;
  /** What it means that a head is too large, from its start. */
  overflow(start: string): 'target_overflow' | 'header_overflow';
  /** Parses the text from the start line to the last field line, each with its CRLF. An `interim` head is skipped. */
  parse(text: string, maxLines: number): Head | 'malformed' | 'too_many_lines' | 'interim';
}

/** Receives a message. With `last` it is complete, and the reader is idle. */
export interface MessageEvents<Head> {
  head(head: Head, last: boolean): void;
  /**
   * A part of the body; with `last` it may be empty. A string is the whole body, which arrived with the head; each
   * character is one byte. A buffer is a view of the bytes that were fed, valid until the call returns.
   *
   * @param trailers the fields after it, if there are any; only with `last`
   */
  body(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void;
}

const END_OF_HEAD = '\r\n\r\n';
/** The end of a head may be split over two reads, so this many characters before a read are checked again. */
const SEAM_LENGTH = END_OF_HEAD.length - 1;
const CR = 0x0d;
const LF = 0x0a;
/** A control character, a bare CR or a bare LF. */
const INVALID = /[^\t\x20-\x7e\x80-\xff\r\n]|\r(?=[^\n])|(?<!\r)\n/;

/**
 * Reads the messages of one connection, one at a time (RFC 9112). It refuses malformed bytes as soon as it is certain, and
 * its memory is bounded.
 */
export class MessageReader<Head extends { readonly framing: BodyFraming }> {
  readonly #syntax: MessageSyntax<Head>;
  readonly #events: MessageEvents<Head>;
  readonly #limits: HeadLimits;
  #state: 'idle' | 'head' | 'length' | 'chunked' | 'until_close' = 'idle';
  /** A head that has begun and not ended. */
  #partial: BodyBuffer | undefined = undefined;
  #partialLength = 0;
  /** Its last characters. Only they are read again, so a head that arrives byte by byte takes linear time. */
  #seam = '';
  #emptyLines = 0;
  /** Whether the CR of an empty line has arrived, but not its LF. */
  #afterCr = false;
  #leftBytes = 0;
  #chunked: ChunkedDecoder | undefined = undefined;

  constructor(syntax: MessageSyntax<Head>, events: MessageEvents<Head>, limits: HeadLimits) {
    this.#syntax = syntax;
    this.#events = events;
    this.#limits = limits;
  }

  /** Whether a head has begun and not ended. */
  get withinHead(): boolean {
    return this.#state === 'head' && (this.#partialLength > 0 || this.#emptyLines > 0);
  }

  /** Whether no message is expected: none was, or the last one is complete. */
  get idle(): boolean {
    return this.#state === 'idle';
  }

  /** The number of small chunks of the current body so far. */
  get smallChunks(): number {
    return this.#chunked?.smallChunks ?? 0;
  }

  /** Expects the next message. */
  expect(): void {
    this.#state = 'head';
    this.#emptyLines = 0;
    this.#afterCr = false;
    this.#clearPartial();
  }

  /**
   * Reads bytes up to the end of a message.
   *
   * @returns how many were read, or why they are malformed
   */
  feed(bytes: Buffer): number | MalformedReason {
    let at = 0;
    while (at < bytes.length && this.#state !== 'idle') {
      const rest = at === 0 ? bytes : bytes.subarray(at);
      const used = this.#state === 'head' ? this.#feedHead(rest) : this.#feedBody(rest);
      if (typeof used === 'string') return used;
      at += used;
    }
    return at;
  }

  /** The connection has ended. Returns whether that completes the message. */
  finish(): boolean {
    if (this.#state !== 'until_close') return false;
    this.#body('', true);
    return true;
  }

  #feedHead(bytes: Buffer): number | MalformedReason {
    if (this.#partialLength > 0) return this.#feedPartialHead(bytes);
    if (bytes[0] === CR || this.#afterCr) return this.#skipEmptyLine(bytes);
    const max = this.#limits.maxHeaderBytes;
    // A small message is converted to text at once, because each call out of JavaScript costs more than the copy.
    if (bytes.length <= SMALL_MESSAGE_BYTES) {
      const text = bytes.toString('latin1');
      const end = text.indexOf(END_OF_HEAD);
      if (end !== -1 && end + 4 <= max) return this.#takeMessage(text, end + 4);
    } else {
      const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
      if (end !== -1 && end + 4 <= max) {
        return this.#takeHead(bytes.toString('latin1', 0, end + 2), end + 4);
      }
    }
    return this.#feedPartialHead(bytes);
  }

  #skipEmptyLine(bytes: Buffer): number | MalformedReason {
    if (this.#afterCr) {
      this.#afterCr = false;
      return bytes[0] === LF ? 1 : 'malformed_head';
    }
    if (this.#emptyLines >= this.#syntax.maxEmptyLines) return 'malformed_head';
    this.#emptyLines += 1;
    this.#afterCr = bytes.length === 1;
    if (this.#afterCr) return 1;
    return bytes[1] === LF ? 2 : 'malformed_head';
  }

  #feedPartialHead(bytes: Buffer): number | MalformedReason {
    const max = this.#limits.maxHeaderBytes;
    const before = this.#partialLength;
    // More than this cannot be part of a head.
    const piece = bytes.toString('latin1', 0, max + 1 - before);
    const end = (this.#seam + piece).indexOf(END_OF_HEAD);
    if (end === -1) {
      if (before + piece.length >= max) return this.#syntax.overflow(this.#partialText() + piece);
      if (!this.#mayBecomeHead(piece)) return 'malformed_head';
      this.#partial ??= new BodyBuffer();
      this.#partial.add(bytes);
      this.#partialLength += bytes.length;
      this.#seam = (this.#seam + piece).slice(-SEAM_LENGTH);
      return bytes.length;
    }
    const headLength = before - this.#seam.length + end + END_OF_HEAD.length;
    if (headLength > max) return this.#syntax.overflow(this.#partialText() + piece);
    const text = (this.#partialText() + piece).slice(0, headLength - 2);
    return this.#takeHead(text, headLength - before);
  }

  #partialText(): string {
    return this.#partial?.whole().toString('latin1') ?? '';
  }

  #clearPartial(): void {
    this.#partial = undefined;
    this.#partialLength = 0;
    this.#seam = '';
  }

  /** Whether this piece of an incomplete head can be part of a valid one. */
  #mayBecomeHead(piece: string): boolean {
    const { start } = this.#syntax;
    const before = this.#partialLength;
    if (!start.startsWith(piece.slice(0, Math.max(0, start.length - before)), before)) return false;
    return !INVALID.test(this.#seam.endsWith('\r') ? `\r${piece}` : piece);
  }

  /** Reads a head of this many characters, and its body if the rest of the text is exactly the body. */
  #takeMessage(text: string, headLength: number): number | MalformedReason {
    const used = this.#takeHead(text.slice(0, headLength - 2), headLength);
    if (this.#state !== 'length' || this.#leftBytes !== text.length - headLength) return used;
    this.#body(text.slice(headLength), true);
    return text.length;
  }

  #takeHead(text: string, used: number): number | MalformedReason {
    if (this.#partialLength > 0) this.#clearPartial();
    const head = this.#syntax.parse(text, this.#limits.maxHeaderLines);
    if (head === 'interim') return used;
    if (head === 'too_many_lines') return 'header_overflow';
    if (head === 'malformed') return 'malformed_head';
    const { framing } = head;
    const { kind } = framing;
    this.#state = kind === 'none' || kind === 'unknown' || kind === 'unsupported' ? 'idle' : kind;
    if (framing.kind === 'length') this.#leftBytes = framing.bytes;
    if (framing.kind === 'chunked') {
      const take: TakePiece = (piece, last, trailers) => {
        this.#body(piece, last, trailers);
      };
      this.#chunked = new ChunkedDecoder(this.#syntax.strictChunks, this.#limits, take);
    }
    this.#events.head(head, this.#state === 'idle');
    return used;
  }

  #feedBody(bytes: Buffer): number | MalformedReason {
    if (this.#chunked !== undefined) return this.#chunked.feed(bytes) ?? 'malformed_body';
    if (this.#state === 'until_close') {
      this.#body(bytes, false);
      return bytes.length;
    }
    const take = Math.min(this.#leftBytes, bytes.length);
    this.#leftBytes -= take;
    this.#body(take === bytes.length ? bytes : bytes.subarray(0, take), this.#leftBytes === 0);
    return take;
  }

  #body(bytes: BodyBytes, last: boolean, trailers?: HeaderFields): void {
    if (last) {
      this.#state = 'idle';
      this.#chunked = undefined;
    }
    this.#events.body(bytes, last, trailers);
  }
}
