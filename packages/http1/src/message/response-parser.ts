import { SMALL_MESSAGE_BYTES, type BodyBytes } from './body-bytes.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

export interface ParserEvents {
  /** The head of the final response; interim ones are passed over. */
  head(head: ResponseHead): void;
  /** Some of the body; a buffer is a view of the bytes that were fed, good until the call returns. */
  body(bytes: BodyBytes): void;
  /** The response is complete. */
  end(): void;
}

/** The largest head, and the most interim responses before the final one. */
const MAX_HEAD_BYTES = 64 * 1024;
const MAX_INTERIM_RESPONSES = 100;
const END_OF_HEAD = '\r\n\r\n';
const START = 'HTTP/1.';
const BARE_LINE_BREAK = /[^\r]\n|\r[^\n]/;

/**
 * Reads the responses of one connection, one at a time (RFC 9112). Strict: it refuses what is not
 * well-formed, and bytes that no response accounts for.
 */
export class ResponseParser {
  readonly #events: ParserEvents;
  #state: 'idle' | 'head' | 'length' | 'chunked' | 'until_close' = 'idle';
  #method = '';
  #upgrade: string | undefined = undefined;
  #partialHead = '';
  /** The last characters of it, enough to see the end of the head: only they are looked at again. */
  #seam = '';
  #interim = 0;
  #leftBytes = 0;
  #chunked: ChunkedDecoder | undefined;

  constructor(events: ParserEvents) {
    this.#events = events;
  }

  /**
   * A response to a request of this method is expected. With `upgrade`, a protocol in lower case, 101 Switching
   * Protocols is accepted too: all that follows it until the connection closes is its body.
   */
  expect(method: string, upgrade?: string): void {
    this.#state = 'head';
    this.#method = method;
    this.#upgrade = upgrade;
    this.#dropPartialHead();
    this.#interim = 0;
  }

  /** Takes bytes as they come. Gives false where they are no response that can be trusted. */
  feed(bytes: Buffer): boolean {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#state === 'idle') return false;
      const used = this.#state === 'head' ? this.#feedHead(rest) : this.#feedBody(rest);
      if (used === undefined) return false;
      if (used === rest.length) return true;
      rest = rest.subarray(used);
    }
    return true;
  }

  /** The connection has ended. Gives whether that is the proper end of the response. */
  finish(): boolean {
    if (this.#state !== 'until_close') return false;
    this.#end();
    return true;
  }

  #feedHead(bytes: Buffer): number | undefined {
    const before = this.#partialHead.length;
    if (before === 0 && bytes.length <= SMALL_MESSAGE_BYTES) {
      const text = bytes.toString('latin1');
      const end = text.indexOf(END_OF_HEAD);
      if (end !== -1) {
        if (!this.#takeHead(text.slice(0, end + 2))) return undefined;
        return end + 4 + this.#takeText(text, end + 4);
      }
    } else if (before === 0) {
      const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
      if (end !== -1 && end < MAX_HEAD_BYTES) {
        return this.#takeHead(bytes.toString('latin1', 0, end + 2)) ? end + 4 : undefined;
      }
    }
    const piece = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
    const seen = this.#seam + piece;
    const end = seen.indexOf(END_OF_HEAD);
    if (end === -1) {
      if (before + piece.length >= MAX_HEAD_BYTES || !this.#mayBecomeHead(seen)) return undefined;
      this.#partialHead += piece;
      this.#seam = seen.slice(-3);
      return bytes.length;
    }
    const headLength = before - this.#seam.length + end;
    const text = (this.#partialHead + piece).slice(0, headLength + 2);
    this.#dropPartialHead();
    return this.#takeHead(text) ? headLength + 4 - before : undefined;
  }

  /** Whether a head that has not ended yet may still be one: a bare LF or CR never becomes part of one. */
  #mayBecomeHead(seen: string): boolean {
    if (this.#partialHead.length < START.length) {
      const start = (this.#partialHead + seen.slice(this.#seam.length)).slice(0, START.length);
      if (!START.startsWith(start)) return false;
    }
    return !BARE_LINE_BREAK.test(seen);
  }

  #dropPartialHead(): void {
    this.#partialHead = '';
    this.#seam = '';
  }

  #takeHead(text: string): boolean {
    const head = parseResponseHead(text, this.#method);
    if (head === undefined) return false;
    if (head.status === 101) return this.#takeUpgrade(head);
    if (head.status < 200) {
      this.#interim += 1;
      return this.#interim <= MAX_INTERIM_RESPONSES;
    }
    const { framing } = head;
    this.#state = framing.kind === 'none' ? 'idle' : framing.kind;
    if (framing.kind === 'length') this.#leftBytes = framing.bytes;
    if (framing.kind === 'chunked') this.#chunked = new ChunkedDecoder(false);
    this.#events.head(head);
    if (framing.kind === 'none') this.#events.end();
    return true;
  }

  /** RFC 9110 section 7.8: a 101 that was not asked for, or that switches to another protocol, is refused. */
  #takeUpgrade(head: ResponseHead): boolean {
    if (this.#upgrade === undefined || upgradeField(head.fields) !== this.#upgrade) return false;
    this.#state = 'until_close';
    this.#events.head({ ...head, framing: { kind: 'until_close' }, keepAlive: false });
    return true;
  }

  /** Takes the body that came with the head from the text of both. Gives how long it is, maybe 0. */
  #takeText(text: string, at: number): number {
    if (this.#state !== 'length' || text.length === at) return 0;
    const take = Math.min(this.#leftBytes, text.length - at);
    this.#leftBytes -= take;
    this.#events.body(text.slice(at, at + take));
    if (this.#leftBytes === 0) this.#end();
    return take;
  }

  #feedBody(bytes: Buffer): number | undefined {
    if (this.#state === 'chunked') return this.#feedChunked(bytes);
    if (this.#state === 'until_close') {
      this.#events.body(bytes);
      return bytes.length;
    }
    const take = Math.min(this.#leftBytes, bytes.length);
    this.#leftBytes -= take;
    this.#events.body(take === bytes.length ? bytes : bytes.subarray(0, take));
    if (this.#leftBytes === 0) this.#end();
    return take;
  }

  #feedChunked(bytes: Buffer): number | undefined {
    const used = this.#chunked?.feed(bytes, this.#events);
    if (this.#chunked?.complete === true) this.#end();
    return used;
  }

  #end(): void {
    this.#state = 'idle';
    this.#chunked = undefined;
    this.#events.end();
  }
}

/** The value of `Upgrade` in lower case; undefined if the field is missing or repeated. */
function upgradeField(fields: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index]?.toLowerCase() !== 'upgrade') continue;
    if (found !== undefined) return undefined;
    found = fields[index + 1]?.toLowerCase();
  }
  return found;
}
