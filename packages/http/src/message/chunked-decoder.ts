import type { HeaderFields } from '../fields/header-fields.ts';
import { TrailerSection, type HeadLimits } from './trailer-section.ts';

/** RFC 9112 section 7.1: a size in hex, then extensions after semicolons. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,13})([ \t]*)(?:;[\t\x20-\x7e\x80-\xff]*)?$/;
/** Extensions as section 7.1.1 defines them, without spaces or tabs. */
const EXTENSIONS =
  /^(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*"))?)*$/;

const MAX_LINE_BYTES = 4 * 1024;
/** The limit of all extensions of a body. Without it each byte of a body could cost kilobytes to receive. */
const MAX_EXTENSION_BYTES = 16 * 1024;
const CR = 0x0d;
const LF = 0x0a;
/** Sizes with at most this many digits are read byte by byte, without a string. */
const MAX_PLAIN_DIGITS = 7;
/** Adjacent pieces below this size are joined. */
const SMALL_BYTES = 512;

/**
 * Receives the data of a body: views of the bytes that were fed, or copies. With `last` it may be empty, and come with
 * trailers.
 */
export type TakePiece = (bytes: Buffer, last: boolean, trailers?: HeaderFields) => void;

/**
 * Decodes a chunked body. Extensions are read, bounded and dropped; trailers are bounded as a head is. Small chunks are
 * joined, so that a body in chunks of one byte costs little more than any other.
 */
export class ChunkedDecoder {
  complete = false;
  /** The number of small chunks so far. Handling one costs more than its bytes. */
  smallChunks = 0;
  readonly #strict: boolean;
  readonly #limits: HeadLimits;
  readonly #take: TakePiece;
  #state: 'size' | 'data' | 'data_end' | 'trailer' = 'size';
  #line = '';
  #leftBytes = 0;
  /** undefined: no trailer has arrived. */
  #trailers: TrailerSection | undefined = undefined;
  #extensionBytes = 0;

  /**
   * @param strict refuses what another recipient might read differently: spaces after a size, malformed extensions,
   * and framing fields in trailers. From a client they may be an attack; from a server they are ignored.
   * @param limits of the trailers
   */
  constructor(strict: boolean, limits: HeadLimits, take: TakePiece) {
    this.#strict = strict;
    this.#limits = limits;
    this.#take = take;
  }

  /**
   * Decodes bytes.
   *
   * @returns how many of the bytes belong to the body, or undefined if they are malformed
   */
  feed(bytes: Buffer): number | undefined {
    const pieces = new Pieces(bytes, this.#take);
    let at = 0;
    while (at < bytes.length && !this.complete) {
      if (this.#state === 'data') {
        const take = Math.min(this.#leftBytes, bytes.length - at);
        pieces.add(at, at + take);
        at += take;
        this.#leftBytes -= take;
        if (this.#leftBytes === 0) this.#state = 'data_end';
        continue;
      }
      const next = this.#line === '' ? this.#readPlain(bytes, at) : -1;
      if (next !== -1) {
        at = next;
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const stop = end === -1 ? bytes.length : end + 1;
      if (!this.#hasRoom(this.#line.length + stop - at)) return undefined;
      this.#line += bytes.toString('latin1', at, stop);
      at = stop;
      if (end !== -1 && !this.#takeLine()) return undefined;
    }
    pieces.end(this.complete, this.complete ? this.#trailers?.found : undefined);
    return at;
  }

  /** Whether a line of so many bytes is not too long. */
  #hasRoom(bytes: number): boolean {
    if (this.#state !== 'trailer') return bytes <= MAX_LINE_BYTES;
    // Most bodies have none, and then this is the end of the body.
    return this.#trailers?.hasRoom(bytes) ?? bytes <= this.#limits.maxHeaderBytes;
  }

  /** Reads the line end after a chunk, or a size line without extensions. Returns -1 if it is something else. */
  #readPlain(bytes: Buffer, at: number): number {
    if (this.#state === 'data_end') {
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return -1;
      this.#state = 'size';
      return at + 2;
    }
    if (this.#state !== 'size') return -1;
    let size = 0;
    let end = at;
    for (; end - at <= MAX_PLAIN_DIGITS; end += 1) {
      const digit = HEX[bytes[end] ?? 0] ?? -1;
      if (digit === -1) break;
      size = size * 16 + digit;
    }
    if (end === at || bytes[end] !== CR || bytes[end + 1] !== LF) return -1;
    this.#begin(size);
    return end + 2;
  }

  #begin(size: number): void {
    if (size < SMALL_BYTES) this.smallChunks += 1;
    this.#leftBytes = size;
    this.#state = size === 0 ? 'trailer' : 'data';
  }

  #takeLine(): boolean {
    const line = this.#line;
    this.#line = '';
    if (line.charCodeAt(line.length - 2) !== CR) return false;
    const text = line.slice(0, -2);
    switch (this.#state) {
      case 'size': {
        const [, digits = '', blanks = ''] = SIZE_LINE.exec(text) ?? [];
        if (digits === '' || (this.#strict && blanks !== '')) return false;
        if (this.#strict && !EXTENSIONS.test(text.slice(digits.length))) return false;
        this.#extensionBytes += text.length - digits.length;
        if (this.#extensionBytes > MAX_EXTENSION_BYTES) return false;
        this.#begin(Number.parseInt(digits, 16));
        return true;
      }
      case 'data_end':
        this.#state = 'size';
        return text === '';
      case 'trailer':
        this.complete = text === '';
        if (this.complete) return true;
        this.#trailers ??= new TrailerSection(this.#strict, this.#limits);
        return this.#trailers.add(text);
      case 'data':
        return false;
    }
  }
}

/** The value of each byte that is a hex digit, else -1. */
const HEX = Int8Array.from({ length: 256 }, (_none, code) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase());
  return code === 0 ? -1 : digit;
});

/**
 * Passes on the data of one read: large pieces as views, adjacent small ones joined. Each waits for the next one, or for
 * the end of the read, which shows whether it is the last.
 */
class Pieces {
  readonly #bytes: Buffer;
  readonly #take: TakePiece;
  /** A piece that is passed on as a view, unless it is small and another small one follows. */
  #from = 0;
  #to = 0;
  #page: Buffer | undefined = undefined;
  #used = 0;

  constructor(bytes: Buffer, take: TakePiece) {
    this.#bytes = bytes;
    this.#take = take;
  }

  add(from: number, to: number): void {
    if (to - from < SMALL_BYTES && this.#isSmall()) {
      this.#join();
      this.#used += this.#bytes.copy(this.#page ?? this.#bytes, this.#used, from, to);
      return;
    }
    this.end(false);
    this.#from = from;
    this.#to = to;
  }

  /** Passes on the piece that waits, and the end of the body. */
  end(last: boolean, trailers?: HeaderFields): void {
    if (this.#page !== undefined) this.#take(this.#page.subarray(0, this.#used), last, trailers);
    else if (this.#to > this.#from || last) {
      this.#take(this.#bytes.subarray(this.#from, this.#to), last, trailers);
    }
    this.#page = undefined;
    this.#used = this.#from = this.#to = 0;
  }

  /** Whether a piece waits to which small ones can be joined. */
  #isSmall(): boolean {
    const bytes = this.#to - this.#from;
    return this.#page !== undefined || (bytes > 0 && bytes < SMALL_BYTES);
  }

  #join(): void {
    if (this.#page !== undefined) return;
    // The rest of the read fits, because it contains all pieces that will be joined.
    this.#page = Buffer.allocUnsafe(this.#bytes.length - this.#from);
    this.#used = this.#bytes.copy(this.#page, 0, this.#from, this.#to);
    this.#from = this.#to = 0;
  }
}
