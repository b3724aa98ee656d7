import type { HeaderFields } from '../fields/header-fields.ts';
import { parseFieldBlock, type FieldBlocks } from './repeated-fields.ts';
import type { CommonFields } from './field-template.ts';
import {
  codedFraming,
  type ControlFields,
  isUnreadable,
  NO_BODY,
  parseDecimal,
  UNKNOWN_FRAMING,
  type BodyFraming,
} from './framing.ts';
import type { MessageSyntax } from './message-reader.ts';

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** The target of the request line. */
  readonly url: string;
  /** `1.0`, `1.1` (for any later minor version too) or `UNKNOWN_VERSION`. */
  readonly httpVersion: string;
  /** Unchanged; each character is one byte. Other requests may have the same list. */
  readonly fields: HeaderFields;
  /** What it has in common with other requests, if values vary. */
  readonly common?: CommonFields | undefined;
  readonly framing: BodyFraming;
  /** Whether another request may follow on the connection (RFC 9112 section 9.3). */
  readonly keepAlive: boolean;
  /** The protocol in `Upgrade`, in lower case, if `Connection` lists it. */
  readonly upgrade: string | undefined;
}

/** Stands for any major version other than 1. */
export const UNKNOWN_VERSION = '0';

/** RFC 9110 section 9.1: a method is a token. No method that is in use is longer. */
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}$/;
/** A request line whose target has not ended. */
const INCOMPLETE_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32} [!-~]*$/;
const REQUEST_LINE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([!-~]+) HTTP\/(\d\.\d)\r\n/y;
/** RFC 9112 section 3.2: a path, a URI, or `*`. */
const TARGET = /^(?:\/|\*$|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/;
const MAX_LENGTH = 2n ** 64n - 1n;
/** RFC 9112 section 2.2: a server skips empty lines before a request line; no client needs more than this. */
const MAX_EMPTY_LINES = 4;

/** Whether a text can be a method. Others are refused as malformed. */
export function isMethod(text: string): boolean {
  return METHOD.test(text);
}

/** How a server reads requests. */
export function createRequestSyntax(blocks?: FieldBlocks): MessageSyntax<RequestHead> {
  return {
    start: '',
    maxEmptyLines: MAX_EMPTY_LINES,
    strictChunks: true,
    overflow: (start) => (INCOMPLETE_LINE.test(start) ? 'target_overflow' : 'header_overflow'),
    parse: (text, maxLines) => parseRequestHead(text, maxLines, blocks),
  };
}

/**
 * Parses the text from the request line to the last field line, each with its CRLF. It refuses what a lenient parser
 * would repair, because two parsers that repair differently could read one request as two (RFC 9112 sections 2.2, 3, 5
 * and 11).
 *
 * @returns `malformed` also if the end of the body is ambiguous
 */
export function parseRequestHead(
  text: string,
  maxLines: number,
  blocks?: FieldBlocks,
): RequestHead | 'malformed' | 'too_many_lines' {
  REQUEST_LINE.lastIndex = 0;
  const line = REQUEST_LINE.exec(text);
  if (line === null) return 'malformed';
  const [all, method = '', url = '', digits = ''] = line;
  if (method !== 'CONNECT' && !TARGET.test(url)) return 'malformed';
  const httpVersion = versionOf(digits);
  const block = parseFieldBlock(text, all.length, maxLines, blocks);
  if (typeof block === 'string') return block;
  const { fields, control, common } = block;
  const framing = requestFraming(control, httpVersion);
  if (framing === undefined) return 'malformed';
  const keepAlive = !isUnreadable(framing) && control.persists(httpVersion);
  return {
    method,
    url,
    httpVersion,
    fields,
    common,
    framing,
    keepAlive,
    // HTTP/1.0 has no upgrades; the field is ignored (RFC 9110 section 7.8).
    upgrade: httpVersion === '1.1' ? control.requestedUpgrade : undefined,
  };
}

/** A later minor version is compatible with 1.1 (RFC 9110 section 2.5), so it is read as 1.1. */
function versionOf(digits: string): string {
  if (digits === '1.1' || digits === '1.0') return digits;
  return digits.startsWith('1.') ? '1.1' : UNKNOWN_VERSION;
}

/** RFC 9112 section 6.3; undefined if the fields contradict each other. */
function requestFraming(control: ControlFields, httpVersion: string): BodyFraming | undefined {
  const { contentLength, transferCoding } = control;
  if (control.lengthsDiffer) return undefined;
  if (transferCoding !== undefined) {
    if (contentLength !== undefined) return undefined;
    // HTTP/1.0 has no transfer codings, and the engine decodes only chunked. The caller gets a response.
    return httpVersion === '1.1' ? codedFraming(transferCoding) : UNKNOWN_FRAMING;
  }
  if (contentLength === undefined || contentLength === '0') return NO_BODY;
  if (!/^\d{1,20}$/.test(contentLength)) return undefined;
  const isLong = contentLength.length > 15;
  if (isLong && BigInt(contentLength) > MAX_LENGTH) return undefined;
  const bytes = isLong ? Number(contentLength) : parseDecimal(contentLength);
  return bytes === 0 ? NO_BODY : { kind: 'length', bytes };
}
