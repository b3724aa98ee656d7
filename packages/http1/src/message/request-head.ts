import { METHODS } from 'node:http';
import { decimal } from '../fields/decimal.ts';
import { readFieldLines } from '../fields/field-lines.ts';

/**
 * The head of a request, read strictly: what a lenient parser would mend is refused, as two parsers
 * that mend differently are how one request is taken for two (RFC 9112 sections 2.2, 3, 5 and 11).
 */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  /** `1.0`, `1.1`, or that of something else in the form of HTTP/1, which is for others to refuse. */
  readonly httpVersion: string;
  /** Name, value, name, value; one character a byte. */
  readonly rawHeaders: string[];
  readonly framing: RequestFraming;
  /** Whether another request may follow on the connection (RFC 9112 section 9.3). */
  readonly keepAlive: boolean;
  /** What `Upgrade` names, in lower case, where `Connection` names it. */
  readonly upgrade: string | undefined;
}

/** How the end of the body is told (RFC 9112 section 6.3). `unknown`: nothing after the head can be read. */
export type RequestFraming =
  | { readonly kind: 'none' | 'chunked' | 'unknown' }
  | { readonly kind: 'length'; readonly bytes: number };

/** The version of what has the form of HTTP/1 and says that it is none, or does not say. */
export const UNKNOWN_VERSION = '0';

const NONE: RequestFraming = { kind: 'none' };
const CHUNKED: RequestFraming = { kind: 'chunked' };
const UNKNOWN: RequestFraming = { kind: 'unknown' };

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
const REQUEST_LINE = /([A-Z-]{1,32}) ([!-~]+) HTTP\/(\d\.\d)\r\n/y;
/** RFC 9112 section 3.2: a path, a URI, or the whole of the server. */
const TARGET = /^(?:\/|\*$|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/;
/** A control character, or half of a line's end. */
const UNSOUND = /[^\t\x20-\x7e\x80-\xff\r\n]|\r(?=[^\n])|(?<!\r)\n/;
const MAX_LENGTH = 2n ** 64n - 1n;

/** Whether what has come of a head can still become one; of what is before `from` that is known. */
export function mayBecomeHead(text: string, from: number): boolean {
  const start = text[from - 1] === '\r' ? from - 1 : from;
  return !UNSOUND.test(text.slice(start));
}

/**
 * Parses the text from the request line to the last field line, each with its CRLF. Gives undefined
 * where it is not well-formed, or the end of its body could be read in two ways; `too_many_lines` as
 * soon as that is so, as to collect thousands of lines takes milliseconds.
 */
export function parseRequestHead(
  text: string,
  maxLines: number,
): RequestHead | 'too_many_lines' | undefined {
  REQUEST_LINE.lastIndex = 0;
  const line = REQUEST_LINE.exec(text);
  if (line === null) return undefined;
  const [all, method = '', url = '', digits = ''] = line;
  if (!KNOWN_METHODS.has(method) || (method !== 'CONNECT' && !TARGET.test(url))) return undefined;
  const httpVersion = digits === '1.1' || digits === '1.0' ? digits : UNKNOWN_VERSION;
  const rawHeaders: string[] = [];
  const lines = readFieldLines(text, all.length, maxLines, rawHeaders);
  if (lines !== 'read') return lines === 'malformed' ? undefined : lines;
  const fields = new ConnectionFields();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    fields.note(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const framing = fields.framing(httpVersion);
  if (framing === undefined) return undefined;
  const keepAlive = framing.kind !== 'unknown' && fields.keepsAlive(httpVersion);
  return { method, url, httpVersion, rawHeaders, framing, keepAlive, upgrade: fields.asksFor };
}

/** The fields that tell where the body ends, and what becomes of the connection. */
class ConnectionFields {
  #length: string | undefined = undefined;
  #coding: string | undefined = undefined;
  #twice = false;
  #connection = '';
  #upgrade: string | undefined = undefined;

  note(name: string, value: string): void {
    switch (name.length) {
      case 7:
        if (name.toLowerCase() === 'upgrade') this.#upgrade = value.toLowerCase();
        break;
      case 10:
        if (name.toLowerCase() === 'connection') this.#connection += `,${value.toLowerCase()}`;
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        // Also where the two are alike: nobody sends it twice by mistake.
        this.#twice ||= this.#length !== undefined;
        this.#length = value;
        break;
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        this.#coding =
          this.#coding === undefined ? value.toLowerCase() : `${this.#coding}, ${value}`;
        break;
    }
  }

  framing(httpVersion: string): RequestFraming | undefined {
    const coding = this.#coding;
    const length = this.#length;
    if (this.#twice || (coding !== undefined && length !== undefined)) return undefined;
    // HTTP/1.0 has no codings, and one beside chunked is not undone here: the stages say so.
    if (coding !== undefined)
      return coding === 'chunked' && httpVersion === '1.1' ? CHUNKED : UNKNOWN;
    if (length === undefined || length === '0') return NONE;
    if (!/^\d{1,20}$/.test(length)) return undefined;
    if (length.length > 15 && BigInt(length) > MAX_LENGTH) return undefined;
    const bytes = length.length > 15 ? Number(length) : decimal(length);
    return bytes === 0 ? NONE : { kind: 'length', bytes };
  }

  keepsAlive(httpVersion: string): boolean {
    const options = this.#connection;
    if (options === '' || options === ',keep-alive') return options !== '' || httpVersion === '1.1';
    if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/.test(options)) return false;
    return httpVersion === '1.1' || /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/.test(options);
  }

  get asksFor(): string | undefined {
    if (this.#upgrade === undefined) return undefined;
    return /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/.test(this.#connection) ? this.#upgrade : undefined;
  }
}
