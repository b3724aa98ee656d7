import { constants } from 'node:http2';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_PROTOCOL_ERROR } = constants;

/** The head of a request of HTTP/2, as HTTP/1.1 would have it. */
export interface RequestHead {
  readonly method: string;
  /** Origin form, or `*`. */
  readonly url: string;
  /** Name, value, name, value. */
  readonly rawHeaders: string[];
  /** As RFC 9113 section 6.5.2 counts them. */
  readonly bytes: number;
}

/** Visible characters: one that was sent on with a space in it would end the request line. */
const TARGET = /^(?:\/[!-~\x80-\xff]*|\*)$/;

/** What each field counts for beside its name and value (RFC 9113 section 6.5.2). */
const FIELD_BYTES = 32;

/** Fields that speak of a connection of HTTP/1.1; in HTTP/2 there are none (RFC 9113 section 8.2.2). */
const CONNECTION_SPECIFIC = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Turns the fields of a HEADERS frame into those of an HTTP/1.1 request. node:http2 has refused what is
 * malformed by RFC 9113 section 8: connection-specific fields, names in upper case, pseudo-header
 * fields that are unknown, repeated, missing or late.
 *
 * `:authority` becomes Host. A Host that names something else stays beside it, so that it is refused as
 * a repeated one (section 8.3.1). Cookies that were sent apart are joined (section 8.2.3). A body of no
 * announced length is told by `chunked`, as HTTP/1.1 tells it.
 *
 * @param maxBytes of the fields as section 6.5.2 counts them. node:http2 holds a caller to it only once
 * the caller has acknowledged it
 * @returns the code to reset the stream with where the fields are too large, or the target is none that a
 * request line could carry
 */
export function requestHead(
  fields: readonly string[],
  endsWithHead: boolean,
  maxBytes: number,
): RequestHead | number {
  let method = '';
  let path: string | undefined;
  let authority: string | undefined;
  let cookie: string | undefined;
  let hasLength = false;
  let bytes = 0;
  const rest: string[] = [];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    bytes += name.length + value.length + FIELD_BYTES;
    if (name === ':method') method = value;
    else if (name === ':path') path = value;
    else if (name === ':authority') authority = value;
    else if (name === 'cookie') cookie = cookie === undefined ? value : `${cookie}; ${value}`;
    else if (!name.startsWith(':') && !CONNECTION_SPECIFIC.has(name)) {
      hasLength ||= name === 'content-length';
      rest.push(name, value);
    }
  }
  // CONNECT has no path; its method is refused.
  const url = path ?? (method === 'CONNECT' ? '*' : '');
  if (bytes > maxBytes) return NGHTTP2_ENHANCE_YOUR_CALM;
  if (!TARGET.test(url)) return NGHTTP2_PROTOCOL_ERROR;
  const rawHeaders = authority === undefined ? rest : withHost(rest, authority);
  if (cookie !== undefined) rawHeaders.push('cookie', cookie);
  if (!endsWithHead && !hasLength) rawHeaders.push('transfer-encoding', 'chunked');
  return { method, url, rawHeaders, bytes };
}

function withHost(fields: readonly string[], authority: string): string[] {
  const all = ['host', authority];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    const value = fields[index + 1] ?? '';
    if (name !== 'host' || value !== authority) all.push(name, value);
  }
  return all;
}

/**
 * The fields of a HEADERS frame for a response: names in lower case, none of a connection. A 205 has no
 * body here, so it has no length either: a caller must take one that is not kept to for malformed (RFC
 * 9113 section 8.1.1).
 */
export function responseFields(status: number, fields: readonly string[]): (string | number)[] {
  const all: (string | number)[] = [':status', status];
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    const dropped = CONNECTION_SPECIFIC.has(name) || (status === 205 && name === 'content-length');
    if (!dropped) all.push(name, fields[index + 1] ?? '');
  }
  return all;
}
