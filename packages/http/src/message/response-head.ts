import { filterFields, type HeaderFields } from '../fields/header-fields.ts';
import { parseFieldBlock, type FieldBlocks } from './repeated-fields.ts';
import {
  CHUNKED,
  type ControlFields,
  NO_BODY,
  parseDecimal,
  UNTIL_CLOSE,
  type BodyFraming,
} from './framing.ts';
import type { MessageSyntax } from './message-reader.ts';

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** Unchanged; each character is one byte. At most one Content-Length, and none in a 204. */
  readonly fields: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether the connection may carry another exchange after this one (RFC 9112 section 9.3). */
  readonly keepAlive: boolean;
  /** The idle timeout in `Keep-Alive`, if there is one. */
  readonly keepAliveHintMs: number | undefined;
}

/** Receives the hints of a server. */
export interface HintReceiver {
  /** The fields of a 103 (RFC 8297). Several may come, before the final response. */
  hints(fields: HeaderFields): void;
}

/** RFC 9110 section 15: the largest status is 599. */
const STATUS_LINE = /HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?\r\n/y;
const MAX_INTERIM_RESPONSES = 100;

/** How a client reads responses. Interim responses are skipped, up to a bound, but for hints that are asked for. */
export class ResponseSyntax implements MessageSyntax<ResponseHead> {
  readonly start = 'HTTP/1.';
  readonly maxEmptyLines = 0;
  readonly strictChunks = false;
  #method = '';
  #upgrade: string | undefined = undefined;
  #hints: HintReceiver | undefined = undefined;
  #interim = 0;
  readonly #blocks: FieldBlocks | undefined;

  constructor(blocks?: FieldBlocks) {
    this.#blocks = blocks;
  }

  /**
   * The next response belongs to a request with this method. With `upgrade`, a protocol in lower case, 101 Switching
   * Protocols is accepted too; all bytes after it until the connection closes are its body.
   */
  answers(method: string, upgrade?: string, hints?: HintReceiver): void {
    this.#method = method;
    this.#upgrade = upgrade;
    this.#hints = hints;
    this.#interim = 0;
  }

  overflow(): 'header_overflow' {
    return 'header_overflow';
  }

  parse(text: string, maxLines: number): ResponseHead | 'malformed' | 'too_many_lines' | 'interim' {
    const head = parseResponseHead(text, this.#method, maxLines, this.#blocks);
    if (typeof head === 'string') return head;
    if (head.status >= 200) {
      // An idle connection must not keep the request in memory.
      this.#hints = undefined;
      return head;
    }
    if (head.status === 101) return this.#switching(head);
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM_RESPONSES) return 'malformed';
    if (head.status === 103) this.#hints?.hints(head.fields);
    return 'interim';
  }

  /** RFC 9110 section 7.8: a 101 that was not requested, or with another protocol, is refused. */
  #switching(head: ResponseHead): ResponseHead | 'malformed' {
    const protocols = filterFields(head.fields, (name) => name.toLowerCase() === 'upgrade');
    const switches = protocols.length === 2 && protocols[1]?.toLowerCase() === this.#upgrade;
    return switches ? { ...head, framing: UNTIL_CLOSE, keepAlive: false } : 'malformed';
  }
}

/**
 * Parses the text from the status line to the last field line, each with its CRLF, as strictly as a request.
 *
 * @returns `malformed` also if its framing contradicts itself
 */
function parseResponseHead(
  text: string,
  method: string,
  maxLines: number,
  blocks: FieldBlocks | undefined,
): ResponseHead | 'malformed' | 'too_many_lines' {
  STATUS_LINE.lastIndex = 0;
  const line = STATUS_LINE.exec(text);
  if (line === null) return 'malformed';
  const [all, minor, statusDigits = '', statusText = ''] = line;
  const status = parseDecimal(statusDigits);
  const block = parseFieldBlock(text, all.length, maxLines, blocks);
  if (typeof block === 'string') return block;
  const { fields, control } = block;
  const framing = responseFraming(control, status, method, minor === '1');
  if (framing === undefined) return 'malformed';
  return {
    status,
    statusText,
    fields: withOneLength(fields, control, status),
    framing,
    keepAlive: minor === '1' && framing.kind !== 'until_close' && control.persists('1.1'),
    keepAliveHintMs: control.keepAlive === undefined ? undefined : hintMs(control.keepAlive),
  };
}

/** RFC 9112 section 6.3; undefined if the fields contradict each other. */
function responseFraming(
  control: ControlFields,
  status: number,
  method: string,
  isHttp11: boolean,
): BodyFraming | undefined {
  const { contentLength, transferCoding } = control;
  if (control.lengthsDiffer) return undefined;
  if (transferCoding !== undefined) {
    if (transferCoding !== 'chunked' || contentLength !== undefined || !isHttp11) return undefined;
  }
  if (contentLength !== undefined && !/^\d{1,15}$/.test(contentLength)) return undefined;
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return NO_BODY;
  if (transferCoding !== undefined) return CHUNKED;
  if (contentLength === undefined) return UNTIL_CLOSE;
  return contentLength === '0' ? NO_BODY : { kind: 'length', bytes: parseDecimal(contentLength) };
}

/**
 * A repeated Content-Length is passed on once. In a 204 it is removed (RFC 9110 section 8.6), because a recipient that
 * believes it would wait for a body that never arrives.
 */
function withOneLength(fields: HeaderFields, control: ControlFields, status: number): HeaderFields {
  let left = status === 204 ? 0 : 1;
  if (control.lengthLines <= left) return fields;
  return filterFields(fields, (name) => {
    if (name.length !== 14 || name.toLowerCase() !== 'content-length') return true;
    left -= 1;
    return left >= 0;
  });
}

function hintMs(keepAlive: string): number | undefined {
  const seconds = /(?:^|[ \t,])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
