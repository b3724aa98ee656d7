import type { ClientRequest } from '../../exchange.ts';
import type { HeaderFields } from '../../fields/header-fields.ts';
import {
  NOT_FIELD_TEXT,
  UnsendableError,
  type ForwardedFields,
} from '../../message/message-writer.ts';

const SPACE = 32;
const TAB = 9;
const NOT_VISIBLE = /[^!-\xff]/;
/** Methods for which a request without a body still says so (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** Lists that were checked, because many requests share one. */
const checked = new WeakSet<ForwardedFields>();

/**
 * The fields of a request, the pseudo-header fields first (RFC 9113 section 8.3.1). The encoder writes names in lower case
 * and leaves out those of the connection.
 *
 * @throws UnsendableError if the server would refuse it or read it differently
 */
export function requestFields(
  scheme: string,
  ownHost: string,
  request: ClientRequest,
): HeaderFields {
  const { method, path, host = ownHost, fields, passed, takesTrailers, upgrade } = request;
  if (NOT_VISIBLE.test(method) || NOT_VISIBLE.test(path) || NOT_VISIBLE.test(host)) {
    throw new UnsendableError('the method, target or host contains a space or a control character');
  }
  // It opens a tunnel, and has no path (RFC 9113 section 8.5).
  if (method === 'CONNECT') throw new UnsendableError('CONNECT is not forwarded');
  // RFC 8441 section 4.
  const all =
    upgrade === undefined
      ? [':method', method, ':scheme', scheme, ':authority', host, ':path', path]
      : [
          ':method',
          'CONNECT',
          ':protocol',
          upgrade,
          ':scheme',
          scheme,
          ':authority',
          host,
          ':path',
          path,
        ];
  if (passed !== undefined) {
    for (const part of passed) {
      checkOnce(part);
      addTo(all, part.fields);
    }
  }
  checkValues(fields);
  addTo(all, fields);
  // A tunnel has neither a length nor trailers.
  if (upgrade !== undefined) return all;
  if (takesTrailers === true) all.push('te', 'trailers');
  const length = lengthOf(request);
  if (length !== undefined) all.push('content-length', String(length));
  return all;
}

function addTo(all: string[], fields: HeaderFields): void {
  for (const text of fields) all.push(text);
}

function checkOnce(part: ForwardedFields): void {
  if (checked.has(part)) return;
  checkValues(part.fields);
  checked.add(part);
}

function checkValues(fields: HeaderFields): void {
  for (let index = 1; index < fields.length; index += 2) {
    const value = fields[index] ?? '';
    if (NOT_FIELD_TEXT.test(value) || isSpace(value, 0) || isSpace(value, value.length - 1)) {
      throw new UnsendableError(`the value of the field ${fields[index - 1]} is not valid`);
    }
  }
}

/** No value begins or ends with one (RFC 9113 section 8.2.1). */
function isSpace(value: string, at: number): boolean {
  const code = value.charCodeAt(at);
  return code === SPACE || code === TAB;
}

/** What `Content-Length` says; undefined: nothing. */
function lengthOf({ method, body, contentLength }: ClientRequest): number | undefined {
  if (body === null) return ANTICIPATES_BODY.has(method) ? 0 : undefined;
  return typeof body === 'string' || Buffer.isBuffer(body) ? body.length : contentLength;
}

/** The trailers to send: undefined if there are none. */
export function checkTrailers(fields: HeaderFields): HeaderFields | undefined | 'unsendable' {
  if (fields.length === 0) return undefined;
  try {
    checkValues(fields);
  } catch {
    return 'unsendable';
  }
  return fields;
}
