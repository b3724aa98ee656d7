import { SMALL_MESSAGE_BYTES } from './body-bytes.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { mayBecomeHead, parseRequestHead, type RequestHead } from './request-head.ts';

/** Why what a caller sent is no request; the label of the metric. */
export type MalformedReason = 'header_overflow' | 'malformed_head' | 'malformed_body' | 'slow_head';

export interface MessageEvents {
  head(head: RequestHead): void;
  /** Some of the body: a view of the bytes that were fed. */
  body(bytes: Buffer): void;
  /** All of the body, as it came with the head; one character a byte. */
  wholeBody(text: string): void;
  /** The request is complete. */
  end(): void;
}

export interface HeadLimits {
  /** Of a head, its request line and all its line ends included. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderLines: number;
}

const END_OF_HEAD = '\r\n\r\n';
const CR = 0x0d;
/** RFC 9112 section 2.2: empty lines before a request line are passed over; nobody needs more. */
const MAX_EMPTY_LINES = 4;

/** Reads the requests of one connection, one at a time (RFC 9112). Strict, and bounded in all it keeps. */
export class MessageReader {
  readonly #events: MessageEvents;
  readonly #maxHeaderBytes: number;
  readonly #maxHeaderLines: number;
  #state: 'head' | 'length' | 'chunked' | 'over' = 'head';
  #partial = '';
  #emptyLines = 0;
  #leftBytes = 0;
  #chunked: ChunkedDecoder | undefined = undefined;

  constructor(events: MessageEvents, limits: HeadLimits) {
    this.#events = events;
    this.#maxHeaderBytes = limits.maxHeaderBytes;
    this.#maxHeaderLines = limits.maxHeaderLines;
  }

  /** Whether a head has begun and not ended. */
  get withinHead(): boolean {
    return this.#state === 'head' && (this.#partial !== '' || this.#emptyLines > 0);
  }

  /** Whether a request is complete, and the next one not asked for. */
  get over(): boolean {
    return this.#state === 'over';
  }

  /** How many small chunks the body has had so far that is being read. */
  get smallChunks(): number {
    return this.#chunked?.smallChunks ?? 0;
  }

  /** The next request may come. */
  next(): void {
    this.#state = 'head';
    this.#emptyLines = 0;
  }

  /** Takes bytes up to the end of a request. Gives how many, or why they are none. */
  feed(bytes: Buffer): number | MalformedReason {
    let at = 0;
    while (at < bytes.length && this.#state !== 'over') {
      const rest = at === 0 ? bytes : bytes.subarray(at);
      const used = this.#state === 'head' ? this.#feedHead(rest) : this.#feedBody(rest);
      if (typeof used === 'string') return used;
      at += used;
    }
    return at;
  }

  #feedHead(bytes: Buffer): number | MalformedReason {
    const before = this.#partial.length;
    const max = this.#maxHeaderBytes;
    if (before === 0 && bytes[0] !== CR) {
      if (bytes.length <= SMALL_MESSAGE_BYTES) {
        const text = bytes.toString('latin1');
        const end = text.indexOf(END_OF_HEAD);
        if (end !== -1 && end + 4 <= max) return this.#takeMessage(text, end + 4);
      } else {
        const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
        if (end !== -1 && end + 4 <= max)
          return this.#takeHead(bytes.toString('latin1', 0, end + 2), end + 4);
      }
    }
    const all = this.#partial + bytes.toString('latin1', 0, max + 4);
    const skipped = this.#emptyLinesOf(all);
    if (skipped === undefined) return 'malformed_head';
    const text = all.slice(skipped);
    const scanned = skipped > 0 ? 0 : before;
    const end = text.indexOf(END_OF_HEAD, Math.max(0, scanned - 3));
    if (end + 4 > max || (end === -1 && text.length >= max)) return 'header_overflow';
    if (end !== -1) return this.#takeHead(text.slice(0, end + 2), skipped + end + 4 - before);
    if (!mayBecomeHead(text, scanned)) return 'malformed_head';
    this.#partial = text;
    return bytes.length;
  }

  /** How long the empty lines are that a text begins with; undefined where there are too many. */
  #emptyLinesOf(text: string): number | undefined {
    let length = 0;
    while (text.startsWith('\r\n', length)) {
      length += 2;
      this.#emptyLines += 1;
      if (this.#emptyLines > MAX_EMPTY_LINES) return undefined;
    }
    return length;
  }

  /** Takes a head of so many characters, and the body behind it where that is all that follows. */
  #takeMessage(text: string, headLength: number): number | MalformedReason {
    const used = this.#takeHead(text.slice(0, headLength - 2), headLength);
    const bodyLength = text.length - headLength;
    if (this.#state !== 'length' || this.#leftBytes !== bodyLength) return used;
    this.#events.wholeBody(text.slice(headLength));
    this.#end();
    return text.length;
  }

  #takeHead(text: string, used: number): number | MalformedReason {
    this.#partial = '';
    const head = parseRequestHead(text, this.#maxHeaderLines);
    if (head === 'too_many_lines') return 'header_overflow';
    if (head === undefined) return 'malformed_head';
    const { framing } = head;
    if (framing.kind === 'length') {
      this.#state = 'length';
      this.#leftBytes = framing.bytes;
    } else if (framing.kind === 'chunked') {
      this.#state = 'chunked';
      this.#chunked = new ChunkedDecoder(true);
    } else this.#state = 'over';
    this.#events.head(head);
    if (this.#state === 'over') this.#events.end();
    return used;
  }

  #feedBody(bytes: Buffer): number | MalformedReason {
    if (this.#chunked !== undefined) {
      const used = this.#chunked.feed(bytes, this.#events);
      if (used === undefined) return 'malformed_body';
      if (this.#chunked.complete) this.#end();
      return used;
    }
    const take = Math.min(this.#leftBytes, bytes.length);
    this.#leftBytes -= take;
    this.#events.body(take === bytes.length ? bytes : bytes.subarray(0, take));
    if (this.#leftBytes === 0) this.#end();
    return take;
  }

  #end(): void {
    this.#state = 'over';
    this.#chunked = undefined;
    this.#events.end();
  }
}
