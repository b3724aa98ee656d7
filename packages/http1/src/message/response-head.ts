import { decimal } from '../fields/decimal.ts';
import { readFieldLines } from '../fields/field-lines.ts';

/**
 * The head of a response, read strictly: what a lenient parser would mend is refused here, as two
 * parsers that mend differently are how one response is taken for two (RFC 9112 sections 2.2, 5, 11).
 */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** Name, value, name, value; one character a byte. At most one Content-Length, and none in a 204. */
  readonly fields: readonly string[];
  readonly framing: Framing;
  /** Whether the connection may carry another exchange after this one (RFC 9112 section 9.3). */
  readonly keepAlive: boolean;
  /** What the `Keep-Alive` field says of the idle time, if it says anything. */
  readonly keepAliveHintMs: number | undefined;
}

/** How the end of the body is told (RFC 9112 section 6.3). */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until_close' };

/** RFC 9110 section 15: there is no status beyond 599, and HTTP/2 of Node could not pass one on. */
const STATUS_LINE = /HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/y;
const MAX_FIELDS = 1000;

const NO_BODY: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const UNTIL_CLOSE: Framing = { kind: 'until_close' };

/**
 * Parses the text from the status line to the last field line, each with its CRLF.
 * Gives undefined where it is not well-formed, or its framing contradicts itself.
 */
export function parseResponseHead(text: string, method: string): ResponseHead | undefined {
  STATUS_LINE.lastIndex = 0;
  const line = STATUS_LINE.exec(text);
  if (line === null) return undefined;
  const [all, minor, statusDigits = '', statusText = ''] = line;
  const status = decimal(statusDigits);
  const fields: string[] = [];
  if (readFieldLines(text, all.length, MAX_FIELDS, fields) !== 'read') return undefined;
  const framing = new FramingFields();
  for (let index = 0; index < fields.length; index += 2) {
    if (framing.note(fields[index] ?? '', fields[index + 1] ?? '', status)) continue;
    fields.splice(index, 2);
    index -= 2;
  }
  const body = framing.of(status, method, minor === '1');
  if (body === undefined) return undefined;
  return {
    status,
    statusText,
    fields,
    framing: body,
    keepAlive: minor === '1' && !framing.close && body.kind !== 'until_close',
    keepAliveHintMs: framing.keepAliveHintMs,
  };
}

/** The fields that tell where the body ends, and what becomes of the connection. */
class FramingFields {
  close = false;
  keepAliveHintMs: number | undefined = undefined;
  #length: string | undefined = undefined;
  #coding: string | undefined = undefined;
  #contradicts = false;

  /** Takes note of a field; false where it must not go on to anyone. */
  note(name: string, value: string, status: number): boolean {
    switch (name.length) {
      case 10:
        if (name.toLowerCase() === 'connection') this.close ||= /(?:^|[ ,])close\b/i.test(value);
        else if (name.toLowerCase() === 'keep-alive') this.keepAliveHintMs = hintMs(value);
        break;
      case 14:
        if (name.toLowerCase() !== 'content-length') break;
        if (this.#length === value) return false;
        this.#contradicts ||= this.#length !== undefined;
        this.#length = value;
        // RFC 9110 section 8.6: a caller that believed it would wait for what never comes.
        return status !== 204;
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break;
        this.#contradicts ||= this.#coding !== undefined;
        this.#coding = value.toLowerCase();
        break;
    }
    return true;
  }

  of(status: number, method: string, http11: boolean): Framing | undefined {
    if (this.#contradicts) return undefined;
    const coding = this.#coding;
    const length = this.#length;
    if (coding !== undefined && (coding !== 'chunked' || length !== undefined || !http11)) {
      return undefined;
    }
    if (length !== undefined && !/^\d{1,15}$/.test(length)) return undefined;
    if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return NO_BODY;
    if (coding !== undefined) return CHUNKED;
    if (length === undefined) return UNTIL_CLOSE;
    return length === '0' ? NO_BODY : { kind: 'length', bytes: decimal(length) };
  }
}

function hintMs(value: string): number | undefined {
  const seconds = /(?:^|[ ,])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
