import { constants } from 'node:http2';
import { eachField, filterFields, type HeaderFields } from '@gateway/http/fields/header-fields';
import { isMethod, type RequestHead } from '@gateway/http/message/request-head';
import type { RefusalReason } from '@gateway/http/http1/server/options';
import { CHUNKED, NO_BODY, type BodyFraming } from '@gateway/http/message/framing';

const { NGHTTP2_PROTOCOL_ERROR } = constants;

/** The head of an HTTP/2 request, as HTTP/1.1 would have it. Its target is in origin form, or `*`. */
export interface Http2RequestHead extends RequestHead {
  /**
   * Why it is refused, as over HTTP/1.1: its method is no token, its target has bytes above ASCII, or the target or all
   * fields are too large.
   */
  readonly refusal: RefusalReason | undefined;
  /** The size of the fields as RFC 9113 section 6.5.2 counts it. */
  readonly bytes: number;
}

/** Visible characters only, because a space would end the request line that is sent upstream. */
const TARGET = /^(?:\/[!-~]*|\*)$/;
const NON_ASCII_TARGET = /^\/[!-~\x80-\xff]*$/;

/** The size of each field in addition to its name and value (RFC 9113 section 6.5.2). */
const FIELD_BYTES = 32;

/** Fields of an HTTP/1.1 connection, which HTTP/2 does not have (RFC 9113 section 8.2.2). */
const CONNECTION_SPECIFIC = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Converts the fields of a HEADERS frame into those of an HTTP/1.1 request. node:http2 has refused what is malformed
 * by RFC 9113 section 8: connection-specific fields, names in upper case, pseudo-header fields that are unknown,
 * repeated, missing or late.
 *
 * `:authority` becomes Host. A Host that differs from it stays beside it, so that the request is refused for a repeated
 * Host (section 8.3.1). Cookies that were sent apart are joined (section 8.2.3).
 *
 * @param endsWithHead whether the stream has no body
 * @param limits of the fields: their number, and their size as section 6.5.2 counts it
 * @returns the head, or the code to reset the stream with if the target is invalid
 */
export function requestHead(
  fields: HeaderFields,
  endsWithHead: boolean,
  limits: FieldLimits,
): Http2RequestHead | number {
  let method = '';
  let path: string | undefined;
  let authority: string | undefined;
  let cookie: string | undefined;
  let contentLength: string | undefined;
  let bytes = 0;
  const regular: string[] = [];
  eachField(fields, (name, value) => {
    bytes += name.length + value.length + FIELD_BYTES;
    if (name === ':method') method = value;
    else if (name === ':path') path = value;
    else if (name === ':authority') authority = value;
    else if (name === 'cookie') cookie = cookie === undefined ? value : `${cookie}; ${value}`;
    else if (!name.startsWith(':') && !CONNECTION_SPECIFIC.has(name)) {
      if (name === 'content-length') contentLength = value;
      regular.push(name, value);
    }
  });
  // CONNECT has no path; its method is refused.
  const url = path ?? (method === 'CONNECT' ? '*' : '');
  const isTarget = TARGET.test(url);
  if (!isTarget && !NON_ASCII_TARGET.test(url)) return NGHTTP2_PROTOCOL_ERROR;
  const refusal = overflowOf(url, bytes, fields.length / 2, limits);
  const isMalformed = !isTarget || !isMethod(method);
  const all = authority === undefined ? regular : withHost(regular, authority);
  if (cookie !== undefined) all.push('cookie', cookie);
  const framing = framingOf(contentLength, endsWithHead);
  return {
    method,
    url,
    httpVersion: '2.0',
    fields: all,
    framing,
    keepAlive: true,
    upgrade: undefined,
    refusal: refusal ?? (isMalformed ? 'malformed_head' : undefined),
    bytes,
  };
}

/** What the fields of one request may be. */
export interface FieldLimits {
  readonly maxHeaderBytes: number;
  readonly maxFields: number;
}

function overflowOf(
  url: string,
  bytes: number,
  count: number,
  { maxHeaderBytes, maxFields }: FieldLimits,
): RefusalReason | undefined {
  if (url.length > maxHeaderBytes) return 'target_overflow';
  return bytes > maxHeaderBytes || count > maxFields ? 'header_overflow' : undefined;
}

/** node:http2 has checked the length against the frames. Without a length the body lasts until the stream ends. */
function framingOf(contentLength: string | undefined, endsWithHead: boolean): BodyFraming {
  if (contentLength === undefined) return endsWithHead ? NO_BODY : CHUNKED;
  const bytes = Number(contentLength);
  return bytes > 0 ? { kind: 'length', bytes } : NO_BODY;
}

function withHost(fields: HeaderFields, authority: string): string[] {
  const others = filterFields(fields, (name, value) => name !== 'host' || value !== authority);
  return ['host', authority, ...others];
}

/**
 * The fields of a HEADERS frame for a response, with names in lower case and without connection-specific fields. A 205
 * is sent without a body and therefore without a length: a caller must treat a wrong length as malformed (RFC 9113
 * section 8.1.1).
 */
export function responseFields(status: number, fields: HeaderFields): (string | number)[] {
  const all: (string | number)[] = [':status', status];
  eachField(fields, (rawName, value) => {
    const name = rawName.toLowerCase();
    const dropped = CONNECTION_SPECIFIC.has(name) || (status === 205 && name === 'content-length');
    if (!dropped) all.push(name, value);
  });
  return all;
}
